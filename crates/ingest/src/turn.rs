//! Validates the two halves of a turn.

use model::{
    Body, Category, Completion, ConversationId, DecisionId, EntityId, Event, EventId, Kind,
    Opening, PromptRef, Retrieved, Scope, Source, Strategy, Timestamp, TurnHalf, TurnId,
    TurnStatus, Type, UserId, ValidationOutcome,
};
use serde_json::{Map, Value};

use crate::check::{
    CaptureError, accept_count, accept_label, accept_number, accept_text, accept_unit, check_texts,
    parse_id, parse_timestamp, parse_word,
};

const MAX_RETRIEVED: usize = 1000;

#[derive(Clone, Debug, Default)]
pub struct RawOpening {
    /// Generated when absent.
    pub turn_id: Option<String>,
    /// Generated when absent.
    pub conversation_id: Option<String>,
    pub user_id: Option<String>,
    pub text: String,
    /// The intent assigned by the application.
    pub intent: Option<String>,
    /// The current time when absent.
    pub ts: Option<String>,
    /// A label copied onto reactions.
    pub track_id: Option<String>,
    pub bundle_id: Option<String>,
    pub user_type: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct RawRetrieved {
    pub entity_id: String,
    pub name: Option<String>,
    pub content: Option<String>,
    /// Rank from 1.
    pub rank: Option<u32>,
    pub score: Option<f64>,
}

/// The completion as sent by a client; fields as in `Completion`.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each field is the one of the same name in `Completion`")]
pub struct RawCompletion {
    pub response: Option<String>,
    pub status: Option<String>,
    pub error: Option<String>,
    pub model: Option<String>,
    pub decision_id: Option<String>,
    pub strategy: Option<(String, Map<String, Value>)>,
    pub prompt: Option<(String, Option<String>)>,
    pub retrieved: Vec<RawRetrieved>,
    pub validation_outcome: Option<String>,
    pub quality_score: Option<f64>,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub latency_ms: Option<f64>,
    pub time_to_first_token_ms: Option<f64>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    pub cost: Option<f64>,
    pub accepted: Option<bool>,
}

/// The ids of a turn's event.
#[derive(Clone, Debug)]
pub struct TurnPlace {
    pub scope: Scope,
    pub turn: TurnId,
    pub conversation: Option<ConversationId>,
    pub user: Option<UserId>,
}

/// A valid opening with the client's ids.
#[derive(Clone, Debug)]
pub struct AcceptedOpening {
    /// Set only if the client chose one.
    pub turn: Option<TurnId>,
    /// Set only if the client chose one.
    pub conversation: Option<ConversationId>,
    pub user: Option<UserId>,
    pub ts: Timestamp,
    pub opening: Opening,
}

pub fn accept_opening(raw: RawOpening, now: Timestamp) -> Result<AcceptedOpening, CaptureError> {
    Ok(AcceptedOpening {
        turn: parse_id("turn_id", raw.turn_id, TurnId::new)?,
        conversation: parse_id("conversation_id", raw.conversation_id, ConversationId::new)?,
        user: parse_id("user_id", raw.user_id, UserId::new)?,
        ts: parse_timestamp("ts", raw.ts.as_deref(), now)?,
        opening: Opening {
            text: accept_text("text", Some(raw.text))?.unwrap_or_default(),
            intent: accept_label("intent", raw.intent)?,
            track_id: accept_label("track_id", raw.track_id)?,
            bundle_id: accept_label("bundle_id", raw.bundle_id)?,
            user_type: accept_label("user_type", raw.user_type)?,
            derived: false,
            unquoted: false,
        },
    })
}

pub fn accept_completion(raw: RawCompletion, now: Timestamp) -> Result<Completion, CaptureError> {
    let status = match raw.status {
        Some(text) => parse_word("status", &text, TurnStatus::from_word, TurnStatus::WORDS)?,
        None if raw.error.is_some() => TurnStatus::Error,
        None => TurnStatus::Success,
    };
    if raw.response.is_none() && status == TurnStatus::Success && raw.accepted != Some(false) {
        let expected = "the answer, unless status is error or accepted is false";
        return Err(CaptureError::new("response", "missing", expected));
    }
    let moment = |field, text: Option<String>| match text {
        None => Ok(None),
        Some(text) => parse_timestamp(field, Some(&text), now).map(Some),
    };
    let started_at = moment("started_at", raw.started_at)?;
    let completed_at = moment("completed_at", raw.completed_at)?;
    let given_ms = accept_number("latency_ms", raw.latency_ms)?;
    let first_ms = accept_number("time_to_first_token_ms", raw.time_to_first_token_ms)?;
    Ok(Completion {
        response: accept_text("response", raw.response)?,
        status,
        error: accept_text("error", raw.error)?,
        model: accept_label("model", raw.model)?,
        decision_id: parse_id("decision_id", raw.decision_id, DecisionId::new)?
            .map(|id| id.to_string()),
        strategy: raw.strategy.map(accept_strategy).transpose()?,
        prompt: raw.prompt.map(accept_prompt).transpose()?,
        retrieved: accept_retrieved("retrieved", raw.retrieved)?,
        validation_outcome: match raw.validation_outcome {
            None => None,
            Some(text) => Some(parse_word(
                "validation_outcome",
                &text,
                ValidationOutcome::from_word,
                ValidationOutcome::WORDS,
            )?),
        },
        quality_score: accept_unit("quality_score", raw.quality_score)?,
        latency_ms: compute_latency(started_at, completed_at, given_ms),
        started_at,
        completed_at,
        time_to_first_token_ms: first_ms,
        tokens_in: accept_count("tokens_in", raw.tokens_in)?,
        tokens_out: accept_count("tokens_out", raw.tokens_out)?,
        cost: accept_number("cost", raw.cost)?,
        accepted: raw.accepted,
        derived: false,
    })
}

/// A measured latency overrides the difference of the two times. A negative difference becomes 0.
fn compute_latency(
    started: Option<Timestamp>,
    completed: Option<Timestamp>,
    given_ms: Option<f64>,
) -> Option<f64> {
    let between = |(started, completed): (Timestamp, Timestamp)| {
        ((completed.as_micros() - started.as_micros()) as f64 / 1000.0).max(0.0)
    };
    given_ms.or_else(|| started.zip(completed).map(between))
}

fn accept_strategy((name, params): (String, Map<String, Value>)) -> Result<Strategy, CaptureError> {
    check_texts("strategy.params", &params)?;
    Ok(Strategy { name: accept_label("strategy.name", Some(name))?.unwrap_or_default(), params })
}

fn accept_prompt((id, version): (String, Option<String>)) -> Result<PromptRef, CaptureError> {
    Ok(PromptRef {
        id: accept_label("prompt.id", Some(id))?.unwrap_or_default(),
        version: accept_label("prompt.version", version)?,
    })
}

pub(crate) fn accept_retrieved(
    list: &str,
    items: Vec<RawRetrieved>,
) -> Result<Vec<Retrieved>, CaptureError> {
    if items.len() > MAX_RETRIEVED {
        let got = format!("a list of {}", items.len());
        return Err(CaptureError::new(list, got, format!("at most {MAX_RETRIEVED} items")));
    }
    let check = |(index, item): (usize, RawRetrieved)| {
        let field = |name: &str| format!("{list}[{index}].{name}");
        if item.score.is_some_and(|score| !score.is_finite()) {
            return Err(CaptureError::new(&field("score"), "not finite", "a number"));
        }
        let entity = parse_id(&field("entity_id"), Some(item.entity_id), EntityId::new)?;
        Ok(Retrieved {
            entity_id: entity.map(|id| id.to_string()).unwrap_or_default(),
            name: accept_text(&field("name"), item.name)?,
            content: accept_text(&field("content"), item.content)?,
            rank: item.rank,
            score: item.score,
        })
    };
    items.into_iter().enumerate().map(check).collect()
}

/// Builds the event of one half of a turn.
pub fn turn_event(
    place: TurnPlace,
    half: TurnHalf,
    event: EventId,
    ts: Timestamp,
    now: Timestamp,
) -> Event {
    let TurnPlace { scope, turn, conversation, user } = place;
    let kind = (Kind { event_type: Type::Query, source: Source::Turn }, Category::Quality);
    let turn = Some(turn);
    Event { user, conversation, turn, ts, ..Event::new(scope, event, kind, now, Body::Turn(half)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn answer() -> RawCompletion {
        RawCompletion { response: Some("42".into()), ..RawCompletion::default() }
    }

    #[track_caller]
    fn check_field(raw: RawCompletion, expected: &str) {
        match accept_completion(raw, NOW) {
            Err(CaptureError::BadField { field, .. }) => assert_eq!(field, expected),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn invalid_completion_error_names_the_field() {
        check_field(RawCompletion::default(), "response");
        check_field(RawCompletion { status: Some("ok".into()), ..answer() }, "status");
        check_field(RawCompletion { quality_score: Some(1.1), ..answer() }, "quality_score");
        check_field(RawCompletion { latency_ms: Some(-1.0), ..answer() }, "latency_ms");
        check_field(RawCompletion { cost: Some(f64::NAN), ..answer() }, "cost");
        let item = RawRetrieved { entity_id: "a\nb".into(), ..RawRetrieved::default() };
        let with_item = RawCompletion { retrieved: vec![item], ..answer() };
        check_field(with_item, "retrieved[0].entity_id");
    }

    #[test]
    fn error_needs_no_answer_and_empty_answer_is_valid() {
        let failed = RawCompletion { error: Some("timeout".into()), ..RawCompletion::default() };
        assert_eq!(accept_completion(failed, NOW).unwrap().status, TurnStatus::Error);
        let empty = RawCompletion { response: Some(String::new()), ..RawCompletion::default() };
        assert_eq!(accept_completion(empty, NOW).unwrap().status, TurnStatus::Success);
    }

    #[test]
    fn latency_follows_from_the_times_unless_measured() {
        let timed = |latency_ms| RawCompletion {
            started_at: Some("2026-01-01T00:00:00Z".into()),
            completed_at: Some("2026-01-01T00:00:01.25Z".into()),
            latency_ms,
            ..answer()
        };
        assert_eq!(accept_completion(timed(None), NOW).unwrap().latency_ms, Some(1250.0));
        assert_eq!(accept_completion(timed(Some(9.0)), NOW).unwrap().latency_ms, Some(9.0));
        let backwards =
            RawCompletion { completed_at: Some("2025-12-31T00:00:00Z".into()), ..timed(None) };
        assert_eq!(accept_completion(backwards, NOW).unwrap().latency_ms, Some(0.0));
    }
}
