//! Parameters of a preference export, unparsed and parsed.

use std::collections::BTreeMap;

use learn::{ExportFormat, ExportRule, PairSource, Split};
use model::{BadData, Timestamp, UnitInterval};

use crate::error::EngineError;
use crate::training_data::preferences::conversion::AskedWindow;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreferenceEncoding {
    /// One JSON object per line.
    #[default]
    Jsonl,
    Parquet,
}

/// Unparsed parameters, shared by HTTP and the command line.
#[derive(Clone, Debug, Default)]
pub struct PreferenceRequest {
    /// `dpo` when absent.
    pub format: Option<String>,
    /// `train`, `validation` or `test`; all when absent.
    pub split: Option<String>,
    /// Inclusive start of the window.
    pub since: Option<String>,
    /// Exclusive end of the window.
    pub until: Option<String>,
    /// Minimum confidence of a pair; 0.7 when absent.
    pub min_confidence: Option<f64>,
    /// Pair sources; all when empty.
    pub sources: Vec<String>,
    /// A maximum for every source, or `source:number` for each.
    pub cap: Vec<String>,
    /// The id of the last row received.
    pub after: Option<String>,
    pub encoding: PreferenceEncoding,
}

#[derive(Clone, Debug)]
pub struct PreferenceQuery {
    rule: ExportRule,
    window: AskedWindow,
    after: Option<String>,
    encoding: PreferenceEncoding,
}

impl PreferenceQuery {
    /// Parses a request. The error names the invalid field.
    pub fn parse(request: PreferenceRequest) -> Result<Self, EngineError> {
        let word = request.format.as_deref().unwrap_or(ExportFormat::Dpo.as_word());
        let formats = list_words(ExportFormat::ALL_FORMATS.map(ExportFormat::as_word));
        let format =
            ExportFormat::from_word(word).ok_or_else(|| invalid_field("format", word, &formats))?;
        let mut rule = ExportRule::new(format);
        if let Some(word) = &request.split {
            let splits = list_words(Split::ALL_SPLITS.map(Split::as_word));
            let split =
                Split::from_word(word).ok_or_else(|| invalid_field("split", word, &splits))?;
            rule.split = Some(split);
        }
        if let Some(number) = request.min_confidence {
            let unfit =
                || invalid_field("min_confidence", &number.to_string(), "a number from 0 to 1");
            rule.min_confidence = UnitInterval::new(number).ok_or_else(unfit)?;
        }
        if !request.sources.is_empty() {
            let sources = request.sources.iter().map(|word| parse_source("sources", word));
            rule.sources = sources.collect::<Result<_, _>>()?;
        }
        rule.caps = parse_caps(&request.cap)?;
        let since = parse_time("since", request.since.as_deref())?;
        let until = parse_time("until", request.until.as_deref())?;
        if since.zip(until).is_some_and(|(since, until)| since > until) {
            return Err(invalid_field("until", "before since", "a later time"));
        }
        if request.after.is_some() && request.encoding == PreferenceEncoding::Parquet {
            return Err(invalid_field(
                "after",
                "given",
                "no value for Parquet, which cannot be resumed",
            ));
        }
        let window = AskedWindow { since, until };
        Ok(Self { rule, window, after: request.after, encoding: request.encoding })
    }

    pub fn encoding(&self) -> PreferenceEncoding {
        self.encoding
    }

    pub(crate) fn rule(&self) -> &ExportRule {
        &self.rule
    }

    pub(super) fn window(&self) -> AskedWindow {
        self.window
    }

    pub(super) fn resume_after(&self) -> Option<&str> {
        self.after.as_deref()
    }
}

fn list_words<const N: usize>(all: [&str; N]) -> String {
    format!("one of {}", all.join(", "))
}

fn invalid_field(field: &str, got: &str, expected: &str) -> EngineError {
    let got = got.chars().take(40).collect();
    EngineError::InvalidSetting(BadData {
        field: field.to_owned(),
        got,
        expected: expected.to_owned(),
    })
}

fn parse_source(field: &str, word: &str) -> Result<PairSource, EngineError> {
    let sources = list_words(PairSource::ALL_SOURCES.map(PairSource::as_word));
    PairSource::from_word(word.trim()).ok_or_else(|| invalid_field(field, word, &sources))
}

fn parse_time(field: &str, text: Option<&str>) -> Result<Option<Timestamp>, EngineError> {
    let Some(text) = text else { return Ok(None) };
    let unfit = |_| invalid_field(field, text, "a time such as 2026-01-31T00:00:00Z");
    Timestamp::parse_window_end(text).map(Some).map_err(unfit)
}

fn parse_caps(given: &[String]) -> Result<BTreeMap<PairSource, u64>, EngineError> {
    let expected = "a number, or source:number for each";
    let number = |text: &str| text.trim().parse().map_err(|_| invalid_field("cap", text, expected));
    let mut caps = BTreeMap::new();
    for part in given {
        match part.split_once(':') {
            Some((word, most)) => _ = caps.insert(parse_source("cap", word)?, number(most)?),
            None => {
                let most = number(part)?;
                for source in PairSource::ALL_SOURCES {
                    caps.entry(source).or_insert(most);
                }
            }
        }
    }
    Ok(caps)
}
