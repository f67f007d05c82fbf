//! Validation shared by all inputs: words, ids, times, texts.

use model::{AliasConflict, BadData, BadId, Timestamp, UnitInterval};
use serde_json::{Map, Value};

/// Tolerated clock skew of a client.
const MAX_AHEAD_SECS: i64 = 5 * 60;
/// 2000-01-01T00:00:00Z. An earlier time is a mistaken unit.
const EARLIEST: Timestamp = Timestamp::from_micros(946_684_800_000_000);
const MAX_TEXT_CHARS: usize = 100_000;
const MAX_TAGS: usize = 64;
const MAX_TAG_CHARS: usize = 200;
const MAX_LABEL_CHARS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    #[error("{field} is {got}, expected {expected}")]
    BadField {
        /// Path of the field.
        field: String,
        /// The received value, shortened.
        got: String,
        expected: String,
    },
    /// An invalid reaction, which has a status code of its own.
    #[error("reaction is {0}, expected ok, not_ok or neutral, or null to clear")]
    BadReaction(String),
    /// A machine's reactions are added, not replaced, so it has nothing to clear.
    #[error("reaction is null, which a machine cannot give; expected ok, not_ok or neutral")]
    NothingToClear,
}

impl CaptureError {
    pub fn new(field: &str, got: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::BadField { field: field.to_owned(), got: got.into(), expected: expected.into() }
    }

    /// Replaces the fields of an event by the names that the client used.
    #[must_use]
    pub(crate) fn rename_event_field(self, data: &str) -> Self {
        match self {
            Self::BadField { field, got, expected } => {
                let field = match field.as_str() {
                    "timestamp" => "ts".to_owned(),
                    name if name.starts_with("data") => data.to_owned(),
                    _ => field,
                };
                Self::BadField { field, got, expected }
            }
            other @ (Self::BadReaction(_) | Self::NothingToClear) => other,
        }
    }

    /// Prefixes the field with the name of its parent.
    #[must_use]
    pub fn nested_in(self, outer: &str) -> Self {
        match self {
            Self::BadField { field, got, expected } => {
                Self::BadField { field: format!("{outer}.{field}"), got, expected }
            }
            other @ (Self::BadReaction(_) | Self::NothingToClear) => other,
        }
    }
}

impl From<AliasConflict> for CaptureError {
    fn from(conflict: AliasConflict) -> Self {
        let AliasConflict { alias, field } = conflict;
        let got = format!("an alias of {field} with another value");
        Self::new(&alias, got, format!("either {alias} or {field}"))
    }
}

impl From<BadData> for CaptureError {
    fn from(bad: BadData) -> Self {
        Self::BadField { field: bad.field, got: bad.got, expected: bad.expected }
    }
}

pub(crate) fn parse_word<T>(
    field: &str,
    text: &str,
    from_word: impl Fn(&str) -> Option<T>,
    words: &[&str],
) -> Result<T, CaptureError> {
    let expected = || format!("one of {}", words.join(", "));
    from_word(text).ok_or_else(|| CaptureError::new(field, shorten(text), expected()))
}

pub(crate) fn parse_id<T>(
    field: &str,
    text: Option<String>,
    new: impl Fn(String) -> Result<T, BadId>,
) -> Result<Option<T>, CaptureError> {
    let Some(text) = text else { return Ok(None) };
    let expected = |bad: BadId| bad.to_string().trim_start_matches("expected ").to_owned();
    let got = shorten(&text);
    new(text).map(Some).map_err(|bad| CaptureError::new(field, got, expected(bad)))
}

pub(crate) fn parse_timestamp(
    field: &str,
    text: Option<&str>,
    now: Timestamp,
) -> Result<Timestamp, CaptureError> {
    let Some(text) = text else { return Ok(now) };
    let ts = Timestamp::parse(text).map_err(|bad| {
        let expected = bad.to_string().trim_start_matches("expected ").to_owned();
        CaptureError::new(field, shorten(text), expected)
    })?;
    if ts > now.plus_secs(MAX_AHEAD_SECS) {
        return Err(CaptureError::new(
            field,
            shorten(text),
            "a time at most 5 minutes in the future",
        ));
    }
    if ts < EARLIEST {
        return Err(CaptureError::new(field, shorten(text), "a time after the year 1999"));
    }
    Ok(ts)
}

/// A stored free text: bounded, without NUL.
pub(crate) fn accept_text(
    field: &str,
    text: Option<String>,
) -> Result<Option<String>, CaptureError> {
    match text.as_deref().map(check_text) {
        None | Some(Ok(())) => Ok(text),
        Some(Err(bad)) => Err(CaptureError::new(field, bad.got, bad.expected)),
    }
}

/// A short, non-empty text such as a name.
pub(crate) fn accept_label(
    field: &str,
    text: Option<String>,
) -> Result<Option<String>, CaptureError> {
    let fits = |text: &String| {
        (1..=MAX_LABEL_CHARS).contains(&text.chars().count()) && !text.contains('\0')
    };
    match text {
        Some(text) if !fits(&text) => {
            let expected = format!("1 to {MAX_LABEL_CHARS} characters");
            Err(CaptureError::new(field, shorten(&text), expected))
        }
        text => Ok(text),
    }
}

/// A finite number from 0 to 1e10.
pub(crate) fn accept_number(field: &str, number: Option<f64>) -> Result<Option<f64>, CaptureError> {
    match number {
        Some(number) if !(0.0..=MAX_NUMBER).contains(&number) => {
            let expected = format!("a number not below 0, and at most {MAX_NUMBER}");
            Err(CaptureError::new(field, number.to_string(), expected))
        }
        number => Ok(number),
    }
}

pub(crate) fn accept_count(field: &str, number: Option<u64>) -> Result<Option<u64>, CaptureError> {
    match number {
        Some(number) if number as f64 > MAX_NUMBER => {
            let expected = format!("a whole number not below 0, and at most {MAX_NUMBER}");
            Err(CaptureError::new(field, number.to_string(), expected))
        }
        number => Ok(number),
    }
}

/// Four months in milliseconds. A larger number is a mistake and would dominate every mean.
const MAX_NUMBER: f64 = 1e10;

pub(crate) fn accept_unit(
    field: &str,
    number: Option<f64>,
) -> Result<Option<UnitInterval>, CaptureError> {
    let Some(number) = number else { return Ok(None) };
    let bad = || CaptureError::new(field, number.to_string(), "a number from 0 to 1");
    UnitInterval::new(number).map(Some).ok_or_else(bad)
}

pub(crate) fn check_tags(tags: &[String]) -> Result<(), CaptureError> {
    if tags.len() > MAX_TAGS {
        let got = format!("a list of {}", tags.len());
        return Err(CaptureError::new("tags", got, format!("at most {MAX_TAGS} tags")));
    }
    for (index, tag) in tags.iter().enumerate() {
        if tag.is_empty() || tag.contains('\0') || tag.chars().count() > MAX_TAG_CHARS {
            let expected = format!("1 to {MAX_TAG_CHARS} characters");
            return Err(CaptureError::new(&format!("tags[{index}]"), shorten(tag), expected));
        }
    }
    Ok(())
}

/// Bounds every text inside the data and rejects NUL, which databases cannot store.
pub(crate) fn check_texts(path: &str, fields: &Map<String, Value>) -> Result<(), CaptureError> {
    match find_bad_field(fields) {
        None => Ok(()),
        Some(bad) => Err(CaptureError::new(&format!("{path}{}", bad.path), bad.got, bad.expected)),
    }
}

/// An invalid text. The path is built only on failure, so that valid input allocates nothing.
struct BadText {
    path: String,
    got: String,
    expected: String,
}

impl BadText {
    fn inside(self, step: &str) -> Self {
        Self { path: format!("{step}{}", self.path), ..self }
    }
}

fn find_bad_text(value: &Value) -> Option<BadText> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        Value::String(text) => check_text(text).err(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| Some(find_bad_text(item)?.inside(&format!("[{index}]")))),
        Value::Object(fields) => find_bad_field(fields),
    }
}

fn find_bad_field(fields: &Map<String, Value>) -> Option<BadText> {
    fields.iter().find_map(|(name, item)| {
        let bad = check_text(name).err().or_else(|| find_bad_text(item))?;
        Some(bad.inside(&format!(".{name}")))
    })
}

fn check_text(text: &str) -> Result<(), BadText> {
    let bad = |got: String, expected: String| BadText { path: String::new(), got, expected };
    if text.contains('\0') {
        return Err(bad("a text with a NUL character".into(), "a text without NUL".into()));
    }
    // Compare bytes first: most texts are too short to need counting.
    if text.len() > MAX_TEXT_CHARS && text.chars().count() > MAX_TEXT_CHARS {
        let got = format!("{} characters long", text.chars().count());
        return Err(bad(got, format!("at most {MAX_TEXT_CHARS}")));
    }
    Ok(())
}

pub(crate) fn shorten(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("{short:?}")
}
