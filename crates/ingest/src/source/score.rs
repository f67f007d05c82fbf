//! Scores of other systems: which are a user's rating, comment or correction.
//!
//! The polarity and scale of a score are known only by convention. A score counts as a rating when
//! its name says so and its value is a thumb or a number from 0 to 1. All others are kept as
//! measurements, which change no reaction and no reward.

use model::UnitInterval;
use serde_json::{Map, Value, json};

use super::fields::{read_content, text_field};

pub(super) struct Score {
    pub(super) name: String,
    /// `None` for a score that is only a comment or a correction.
    value: Option<Value>,
    /// `NUMERIC`, `BOOLEAN`, `CATEGORICAL`, `TEXT` or `CORRECTION`, where the export names it.
    kind: Option<String>,
    comment: Option<String>,
    correction: Option<String>,
    /// True for the score of an evaluator, which is no user feedback.
    is_evaluator: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum ScoreMeaning {
    Rating(UnitInterval),
    Comment(String),
    Correction(String),
    /// Any other score.
    Measure,
}

/// Name parts that mark user feedback, as prefixes.
const FEEDBACK_WORDS: [&str; 6] = ["feedback", "thumb", "rating", "vote", "satisf", "liked"];
/// Name parts that reverse the scale, for example `thumbs_down`.
const REVERSED_WORDS: [&str; 5] = ["down", "dislike", "negative", "bad", "dissatisf"];
const POSITIVE_VALUES: [&str; 9] =
    ["good", "positive", "up", "thumbs-up", "thumbs_up", "like", "yes", "true", "👍"];
const NEGATIVE_VALUES: [&str; 9] =
    ["bad", "negative", "down", "thumbs-down", "thumbs_down", "dislike", "no", "false", "👎"];

impl Score {
    /// A score of a Langfuse export: of the API (camel case) or of a blob export (snake case).
    pub(super) fn from_langfuse(fields: &Map<String, Value>) -> Self {
        let kind = text_field(fields, &["dataType", "data_type"]);
        let text = text_field(fields, &["stringValue", "string_value"]);
        let number = fields.get("value").filter(|value| !value.is_null()).cloned();
        let is_text = matches!(kind.as_deref(), Some("CATEGORICAL" | "TEXT" | "CORRECTION"));
        let value = match (is_text, text) {
            (true, Some(text)) => Some(Value::String(text)),
            (_, text) => number.or(text.map(Value::String)),
        };
        Self {
            name: text_field(fields, &["name"]).unwrap_or_default(),
            value,
            kind,
            comment: text_field(fields, &["comment"]),
            correction: None,
            is_evaluator: text_field(fields, &["source"]).is_some_and(|by| by == "EVAL"),
        }
    }

    /// A feedback row of a LangSmith export.
    pub(super) fn from_langsmith(fields: &Map<String, Value>) -> Self {
        let given = |name: &str| fields.get(name).filter(|value| !value.is_null()).cloned();
        let by = fields.get("feedback_source").and_then(|source| source.get("type"));
        Self {
            name: text_field(fields, &["key"]).unwrap_or_default(),
            value: given("score").or_else(|| given("value")),
            kind: None,
            comment: text_field(fields, &["comment"]),
            correction: given("correction").map(|value| read_content(&value)),
            is_evaluator: matches!(by.and_then(Value::as_str), Some("model" | "auto_eval")),
        }
    }

    /// A score known only by its name and value.
    pub(super) fn named(name: &str, value: &Value) -> Self {
        Self {
            name: name.to_owned(),
            value: Some(value.clone()),
            kind: None,
            comment: None,
            correction: None,
            is_evaluator: false,
        }
    }

    pub(super) fn meaning(&self) -> ScoreMeaning {
        let text = || self.value.as_ref().and_then(Value::as_str).map(str::to_owned);
        let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        if self.is_evaluator {
            return ScoreMeaning::Measure;
        }
        let correction = match self.kind.as_deref() {
            Some("CORRECTION") => text(),
            Some(_) | None => self.correction.clone(),
        };
        if let Some(corrected) = filled(correction) {
            return ScoreMeaning::Correction(corrected);
        }
        if self.kind.as_deref() == Some("TEXT") {
            return filled(text()).map_or(ScoreMeaning::Measure, ScoreMeaning::Comment);
        }
        match (names_feedback(&self.name), &self.value) {
            (true, Some(value)) => {
                let rated = rating_value(value).filter(|_| !may_be_one_star(&self.name, value));
                rated.map_or(ScoreMeaning::Measure, ScoreMeaning::Rating)
            }
            (_, None) => {
                filled(self.comment.clone()).map_or(ScoreMeaning::Measure, ScoreMeaning::Comment)
            }
            (false, Some(_)) => ScoreMeaning::Measure,
        }
    }

    /// True when the score holds nothing to keep.
    pub(super) fn is_empty(&self) -> bool {
        self.value.is_none() && self.comment.is_none() && self.correction.is_none()
    }

    /// The fields that decide whether two exports hold the same score.
    pub(super) fn fingerprint(&self) -> String {
        json!([self.name, self.value, self.comment, self.correction]).to_string()
    }

    /// Type, source and category of the event, and its data.
    pub(super) fn event_parts(&self) -> ([&'static str; 3], Value) {
        const RATING: [&str; 3] = ["explicit", "user_rating", "user_satisfaction"];
        const COMMENT: [&str; 3] = ["explicit", "user_comment", "quality"];
        const CORRECTION: [&str; 3] = ["explicit", "user_correction", "accuracy"];
        const MEASURE: [&str; 3] = ["quality", "external_service", "quality"];
        let (name, comment) = (&self.name, &self.comment);
        match self.meaning() {
            ScoreMeaning::Rating(value) => {
                let mut data = json!({"score_name": name, "comment": comment});
                match value.get() {
                    1.0 => data["rating"] = json!("positive"),
                    0.0 => data["rating"] = json!("negative"),
                    other => data["score"] = json!(other),
                }
                (RATING, data)
            }
            ScoreMeaning::Comment(text) => (COMMENT, json!({"comment": text, "score_name": name})),
            ScoreMeaning::Correction(text) => {
                let data = json!({"corrected": text, "explanation": comment, "score_name": name});
                (CORRECTION, data)
            }
            ScoreMeaning::Measure => {
                let data = json!({"name": name, "value": self.value, "comment": comment});
                (MEASURE, data)
            }
        }
    }
}

fn names_feedback(name: &str) -> bool {
    let lower = name.to_lowercase();
    let parts: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let has =
        |words: &[&str]| parts.iter().any(|part| words.iter().any(|word| part.starts_with(word)));
    let joined = parts.concat();
    let is_named = has(&FEEDBACK_WORDS)
        || parts.contains(&"like")
        || ["userscore", "userfeedback", "userrating"].contains(&joined.as_str());
    is_named && !has(&REVERSED_WORDS)
}

/// True for a 1 under a name for stars: the best of 0 to 1, or the worst of 1 to 5.
fn may_be_one_star(name: &str, value: &Value) -> bool {
    let lower = name.to_lowercase();
    let is_one = value.as_f64() == Some(1.0) || value.as_str().map(str::trim) == Some("1");
    is_one && (lower.contains("rating") || lower.contains("star"))
}

/// A thumb or a number from 0 to 1; -1 is a thumb down. Stars are ambiguous and give `None`.
fn rating_value(value: &Value) -> Option<UnitInterval> {
    if let Some(thumb) = value.as_bool() {
        return UnitInterval::new(f64::from(u8::from(thumb)));
    }
    let text = value.as_str().map(str::to_lowercase);
    if let Some(text) = text.as_deref() {
        if POSITIVE_VALUES.contains(&text) {
            return Some(UnitInterval::ONE);
        }
        if NEGATIVE_VALUES.contains(&text) {
            return Some(UnitInterval::ZERO);
        }
    }
    let number = value.as_f64().or_else(|| text?.parse().ok())?;
    UnitInterval::new(if number == -1.0 { 0.0 } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_thumbs_and_fractions_are_ratings() {
        let rated = |value: f64| ScoreMeaning::Rating(UnitInterval::new(value).unwrap());
        let rows = [
            ("user-feedback", json!(1), rated(1.0)),
            ("user_score", json!(0), rated(0.0)),
            ("thumb", json!(-1), rated(0.0)),
            ("thumbs", json!(true), rated(1.0)),
            ("User Rating", json!("0.25"), rated(0.25)),
            ("feedback", json!("thumbs-down"), rated(0.0)),
            // One star, or a thumb up? The scale is not known.
            ("rating", json!(4), ScoreMeaning::Measure),
            ("user-rating", json!(1), ScoreMeaning::Measure),
            ("user-rating", json!(true), rated(1.0)),
            ("thumbs_down", json!(1), ScoreMeaning::Measure),
            ("likelihood", json!(0.9), ScoreMeaning::Measure),
            ("hallucination", json!(0.9), ScoreMeaning::Measure),
        ];
        for (name, value, expected) in rows {
            assert_eq!(Score::named(name, &value).meaning(), expected, "{name} {value}");
        }
    }

    #[test]
    fn kind_and_source_decide_before_the_name() {
        let score = |fields: Value| Score::from_langfuse(fields.as_object().unwrap()).meaning();
        let text = json!({"name": "note", "dataType": "TEXT", "stringValue": "too long"});
        assert_eq!(score(text), ScoreMeaning::Comment("too long".to_owned()));
        let better = json!({"name": "output", "data_type": "CORRECTION", "string_value": "42"});
        assert_eq!(score(better), ScoreMeaning::Correction("42".to_owned()));
        let judged = json!({"name": "user-feedback", "value": 1, "source": "EVAL"});
        assert_eq!(score(judged), ScoreMeaning::Measure);
        let row = json!({"key": "note", "comment": "nice", "score": null});
        let noted = Score::from_langsmith(row.as_object().unwrap()).meaning();
        assert_eq!(noted, ScoreMeaning::Comment("nice".to_owned()));
    }
}
