//! Feedback in a chat log: ratings, corrections, comments and regenerations.

use model::{BadData, Body, Correction, InteractionKind, Kind, Origin, Source, Type, UnitInterval};
use serde_json::{Map, Value};

use super::score::{Score, ScoreMeaning};

#[derive(Clone, Debug, PartialEq)]
pub enum Sign {
    Rated {
        /// From 0 to 1.
        value: UnitInterval,
        /// 1 for a person.
        confidence: UnitInterval,
        /// The comment with the rating.
        said: Option<String>,
    },
    Cleared,
    Corrected(Box<Correction>),
    Said(String),
    /// The user requested another answer.
    Regenerated,
}

impl Sign {
    /// Bytes of text.
    pub fn size(&self) -> usize {
        match self {
            Self::Rated { said, .. } => said.as_ref().map_or(0, String::len),
            Self::Cleared | Self::Regenerated => 0,
            Self::Said(text) => text.len(),
            Self::Corrected(given) => {
                given.corrected.len() + given.original.as_ref().map_or(0, String::len)
            }
        }
    }
}

/// The feedback in an event of `uptake export`. Findings of our detectors are ignored, since a
/// scan detects them itself.
pub(super) fn event_sign(record: &Map<String, Value>, data: &Map<String, Value>) -> Option<Sign> {
    let word = |name: &str| record.get(name).and_then(Value::as_str);
    let kind = Kind {
        event_type: Type::from_word(word("type")?)?,
        source: Source::from_word(word("source")?)?,
    };
    match Body::read(kind, data.clone()).ok()? {
        Body::Rating(given) => Some(person_rating(given.rating.value(), given.remark().cloned())),
        Body::Reaction(given) => match (given.reaction, given.origin, given.detected_in) {
            (None, ..) => Some(Sign::Cleared),
            (Some(_), Origin::Machine, Some(_)) => None,
            (Some(reaction), Origin::User | Origin::Machine, _) => {
                let (value, said) = (reaction.value(), given.text);
                Some(Sign::Rated { value, confidence: given.confidence, said })
            }
        },
        Body::Correction(given) if !given.corrected.is_empty() => {
            Some(Sign::Corrected(Box::new(given.into_value())))
        }
        Body::Comment(given) => Some(Sign::Said(given.into_value().text)),
        Body::Interaction(done) => {
            (done.kind == InteractionKind::Regenerate).then_some(Sign::Regenerated)
        }
        Body::Correction(_)
        | Body::Metric(_)
        | Body::Decision(_)
        | Body::Settlement(_)
        | Body::Spans(_)
        | Body::Turn(_)
        | Body::Rule(_)
        | Body::Finding(_)
        | Body::Other(_)
        | Body::Unreadable(_) => None,
    }
}

/// Feedback fields beside an answer: `rating` as in an event, `corrected`, `comment`,
/// `regenerated`. Invalid values are ignored.
pub(super) fn inline_signs(fields: &Map<String, Value>) -> Vec<Sign> {
    let only = |names: &[&str]| -> Map<String, Value> {
        let some = fields.iter().filter(|(name, _)| names.contains(&name.as_str()));
        some.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let read = |source: Source, names: &[&str]| -> Result<Body, BadData> {
        Body::read(Kind { event_type: Type::Explicit, source }, only(names))
    };
    let mut signs = Vec::new();
    if let Ok(Body::Rating(given)) = read(Source::UserRating, &["rating"]) {
        signs.push(person_rating(given.rating.value(), None));
    }
    let corrected = ["corrected", "corrected_sql", "original", "original_sql", "explanation"];
    if let Ok(Body::Correction(given)) = read(Source::UserCorrection, &corrected)
        && !given.corrected.is_empty()
    {
        signs.push(Sign::Corrected(Box::new(given.into_value())));
    }
    if let Ok(Body::Comment(given)) = read(Source::UserComment, &["comment"]) {
        signs.push(Sign::Said(given.into_value().text));
    }
    if fields.get("regenerated") == Some(&Value::Bool(true)) {
        signs.push(Sign::Regenerated);
    }
    signs
}

/// User scores of a Langfuse trace.
pub(super) fn score_signs(trace: &Map<String, Value>) -> Vec<Sign> {
    let scores = trace.get("scores").and_then(Value::as_array).map(Vec::as_slice);
    let scores = scores.unwrap_or_default().iter().filter_map(Value::as_object);
    let given = scores.filter_map(|score| match Score::from_langfuse(score).meaning() {
        ScoreMeaning::Rating(value) => Some(person_rating(value, None)),
        ScoreMeaning::Correction(_) | ScoreMeaning::Comment(_) | ScoreMeaning::Measure => None,
    });
    given.collect()
}

fn person_rating(value: UnitInterval, said: Option<String>) -> Sign {
    Sign::Rated { value, confidence: UnitInterval::ONE, said }
}
