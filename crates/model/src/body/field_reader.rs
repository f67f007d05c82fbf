//! Reads the fields that clients write into `data`.

use serde_json::{Map, Value};

use super::BadData;
use super::sent::{
    Comment, Correction, Decision, EndpointMetric, Interaction, Rating, SentRating, Settlement,
};
use crate::id::DecisionId;
use crate::number::UnitInterval;
use crate::turn::QuotedTurn;
use crate::word::{DecisionOutcome, InteractionKind};

/// The only field that erasure leaves of a comment or a correction.
pub(crate) const ERASED: &str = "erased";

const RATING: &str = "\"positive\", \"negative\" or a whole number from 1 to 5";

pub(super) struct FieldReader<'a>(pub(super) &'a Map<String, Value>);

impl FieldReader<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn rating(&self) -> Result<SentRating, BadData> {
        let (comment, text) = (self.text("comment")?, self.text("text")?);
        Ok(SentRating { rating: self.stars_or_score()?, comment, text, quoted: self.quoted() })
    }

    /// The question and answer quoted in feedback. Values that are no text are ignored.
    fn quoted(&self) -> Option<QuotedTurn> {
        let quote = |name| self.text(name).ok().flatten().filter(|text| !text.trim().is_empty());
        quote("query").map(|query| QuotedTurn { query, response: quote("response") })
    }

    fn stars_or_score(&self) -> Result<Rating, BadData> {
        match (self.get("rating"), self.get("score")) {
            (Some(_), Some(_)) => Err(bad("score", "given beside data.rating", "one of the two")),
            (None, None) => Err(bad("rating", "missing", RATING)),
            (None, Some(_)) => self
                .unit("score")?
                .map(Rating::Score)
                .ok_or_else(|| bad("score", "missing", "a number from 0 to 1")),
            (Some(value), None) => match (value.as_str(), value.as_u64()) {
                (Some("positive"), _) => Ok(Rating::Positive),
                (Some("negative"), _) => Ok(Rating::Negative),
                (_, Some(stars @ 1..=5)) => Ok(Rating::Stars(stars as u8)),
                _ => Err(bad("rating", &describe_value(value), RATING)),
            },
        }
    }

    pub(super) fn comment(&self) -> Result<Comment, BadData> {
        let text = if self.is_erased() { String::new() } else { self.words("comment")? };
        let rating = self.rating().ok().map(|given| given.rating);
        Ok(Comment { text, rating, quoted: self.quoted() })
    }

    fn is_erased(&self) -> bool {
        self.0.len() == 1 && self.0.get(ERASED) == Some(&Value::Bool(true))
    }

    pub(super) fn correction(&self) -> Result<Correction, BadData> {
        let of = |plain, sql| Ok::<_, BadData>(self.text(plain)?.or(self.text(sql)?));
        if self.is_erased() {
            // Erasure leaves an empty correction.
            return Ok(Correction {
                original: None,
                corrected: String::new(),
                explanation: None,
                query: None,
                response: None,
            });
        }
        let expected = "the corrected answer (or corrected_sql)";
        let corrected = of("corrected", "corrected_sql")?
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| bad("corrected", "missing", expected))?;
        Ok(Correction {
            original: of("original", "original_sql")?,
            corrected,
            explanation: self.text("explanation")?,
            query: self.text("query")?,
            response: self.quoted().and_then(|quoted| quoted.response),
        })
    }

    pub(super) fn interaction(&self) -> Result<Interaction, BadData> {
        let word = self.words("kind")?;
        let kind = InteractionKind::from_word(&word)
            .ok_or_else(|| bad("kind", &quote_text(&word), &list_words(InteractionKind::WORDS)))?;
        Ok(Interaction {
            kind,
            dwell_ms: self.not_negative("dwell_ms")?,
            target: self.text("target")?,
        })
    }

    pub(super) fn metric(&self) -> Result<EndpointMetric, BadData> {
        self.text("llm_provider")?;
        Ok(EndpointMetric {
            endpoint: self.text("endpoint")?,
            model: self.text("model")?,
            latency_ms: self.not_negative("latency_ms")?,
            tokens_used: self.not_negative("tokens_used")?,
            cost: self.not_negative("cost")?,
        })
    }

    pub(super) fn decision(&self) -> Result<Decision, BadData> {
        Ok(Decision {
            decision_id: self.decision_id()?,
            decision_type: self.words("decision_type")?,
            outcome: self.outcome()?,
            confidence: self.unit("confidence")?,
        })
    }

    pub(super) fn settlement(&self) -> Result<Settlement, BadData> {
        let missing = || bad("decision_id", "missing", "the id of a decision");
        let decision_id = self.decision_id()?.ok_or_else(missing)?;
        let outcome_data = self.get("outcome_data").and_then(Value::as_object).cloned();
        let outcome_data = outcome_data.unwrap_or_default();
        Ok(Settlement { decision_id, outcome: self.outcome()?, outcome_data })
    }

    fn decision_id(&self) -> Result<Option<DecisionId>, BadData> {
        let Some(text) = self.text("decision_id")? else { return Ok(None) };
        let unfit = |expected: crate::id::BadId| {
            bad(
                "decision_id",
                &quote_text(&text),
                expected.to_string().trim_start_matches("expected "),
            )
        };
        DecisionId::new(text.clone()).map(Some).map_err(unfit)
    }

    fn outcome(&self) -> Result<DecisionOutcome, BadData> {
        let Some(word) = self.text("outcome")? else { return Ok(DecisionOutcome::Unknown) };
        let unfit = || bad("outcome", &quote_text(&word), &list_words(DecisionOutcome::WORDS));
        DecisionOutcome::from_word(&word).ok_or_else(unfit)
    }

    fn words(&self, name: &str) -> Result<String, BadData> {
        self.text(name)?
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| bad(name, "missing or empty", "a text"))
    }

    fn text(&self, name: &str) -> Result<Option<String>, BadData> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(bad(name, &describe_value(other), "a text")),
        }
    }

    fn unit(&self, name: &str) -> Result<Option<UnitInterval>, BadData> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.as_f64().and_then(UnitInterval::new) {
            Some(unit) => Ok(Some(unit)),
            None => Err(bad(name, &describe_value(value), "a number from 0 to 1")),
        }
    }

    fn not_negative(&self, name: &str) -> Result<Option<f64>, BadData> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.as_f64() {
            Some(number) if number >= 0.0 => Ok(Some(number)),
            Some(_) | None => Err(bad(name, &describe_value(value), "a number not below 0")),
        }
    }
}

fn bad(name: &str, got: &str, expected: &str) -> BadData {
    BadData { field: format!("data.{name}"), got: got.to_owned(), expected: expected.to_owned() }
}

fn list_words(words: &[&str]) -> String {
    format!("one of {}", words.join(", "))
}

fn quote_text(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("{short:?}")
}

/// A value shortened for an error message.
fn describe_value(value: &Value) -> String {
    match value {
        Value::String(text) => quote_text(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
