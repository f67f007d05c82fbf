//! The log, in order.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use event::{Position, Source, Type};
use flow::{Engine, EventPage};
use serde::Deserialize;

use crate::error::Problem;
use crate::scope::RequestScope;
use crate::wire::feedback::StretchResponse;

const MAX_LIMIT: usize = 1000;

/// Query parameters, as text: an empty one counts as absent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameters {
    after: Option<String>,
    limit: Option<String>,
    #[serde(rename = "type")]
    event_type: Option<String>,
    source: Option<String>,
}

/// `GET /api/v1/events`
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    scope: RequestScope,
    parameters: Result<Query<Parameters>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<StretchResponse>, Problem> {
    let Query(given) = parameters
        .map_err(|_| Problem::invalid("query", "expected only after, limit, type and source"))?;
    let page = EventPage {
        scope: scope.get().clone(),
        after: Position(number("after", given.after)?.unwrap_or(0)),
        limit: limit(number("limit", given.limit)?)?,
        types: types(given.event_type)?,
        source: source(given.source)?,
    };
    Ok(Json(engine.events(page).await?.into()))
}

fn number(field: &str, text: Option<String>) -> Result<Option<u64>, Problem> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let bad = || Problem::invalid(field, format!("{field}: expected a whole number from 0"));
    // Positions are 63 bits in the store.
    text.parse::<u64>().ok().filter(|n| i64::try_from(*n).is_ok()).map(Some).ok_or_else(bad)
}

fn limit(given: Option<u64>) -> Result<usize, Problem> {
    match given {
        None => Ok(MAX_LIMIT),
        Some(n @ 1..=1000) => Ok(n as usize),
        Some(n) => {
            Err(Problem::invalid("limit", format!("limit is {n}, expected 1 to {MAX_LIMIT}")))
        }
    }
}

/// `user_explicit` and `explicit` are one thing in every query.
fn types(word: Option<String>) -> Result<Vec<Type>, Problem> {
    let Some(word) = word.filter(|word| !word.is_empty()) else { return Ok(Vec::new()) };
    match Type::from_word(&word) {
        Some(Type::Explicit | Type::UserExplicit) => Ok(vec![Type::Explicit, Type::UserExplicit]),
        Some(other) => Ok(vec![other]),
        None => Err(unknown_word("type", Type::WORDS)),
    }
}

fn source(word: Option<String>) -> Result<Option<Source>, Problem> {
    let Some(word) = word.filter(|word| !word.is_empty()) else { return Ok(None) };
    Source::from_word(&word).map(Some).ok_or_else(|| unknown_word("source", Source::WORDS))
}

fn unknown_word(field: &str, words: &[&str]) -> Problem {
    Problem::invalid(field, format!("{field}: expected one of {}", words.join(", ")))
}
