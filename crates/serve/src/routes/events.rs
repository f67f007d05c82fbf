//! The log, in order.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use event::{Source, Type};
use flow::{Engine, EventPage};
use serde::Deserialize;

use crate::address::{self, Parameters, Read};
use crate::auth::{May, Reading};
use crate::body;
use crate::error::Problem;
use crate::wire::feedback::StretchResponse;

const MAX_LIMIT: usize = 1000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListRequest {
    after: Option<u64>,
    limit: Option<usize>,
    #[serde(rename = "type")]
    event_type: Option<String>,
    source: Option<String>,
}

/// `GET /api/v1/events`
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parameters: Parameters,
) -> Result<Json<StretchResponse>, Problem> {
    let known = [
        ("after", Read::Plain),
        ("limit", Read::Plain),
        ("type", Read::Text),
        ("source", Read::Text),
    ];
    let request: ListRequest = body::shape(address::as_json(parameters, &known)?)?;
    let event_type = address::word("type", request.event_type, Type::from_word, Type::WORDS)?;
    let page = EventPage {
        scope: scope.get().clone(),
        after: address::position("after", request.after)?,
        limit: address::limit(request.limit, MAX_LIMIT, MAX_LIMIT)?,
        types: event_type.map(same_types).unwrap_or_default(),
        source: address::word("source", request.source, Source::from_word, Source::WORDS)?,
    };
    Ok(Json(engine.events(page).await?.into()))
}

/// `user_explicit` and `explicit` are one thing in every query.
fn same_types(event_type: Type) -> Vec<Type> {
    if matches!(event_type, Type::Explicit | Type::UserExplicit) {
        return vec![Type::Explicit, Type::UserExplicit];
    }
    vec![event_type]
}
