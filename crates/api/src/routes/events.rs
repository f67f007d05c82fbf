//! The log and its topics, in order: by the page, or as a stream.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event as Line, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use engine::{Engine, EventFollower, EventPage, KindFilter, Topic};
use futures_util::stream;
use model::{Position, Source, Type};
use serde::Deserialize;

use crate::address::{self, Parameters, Parts, Read};
use crate::auth::{Caller, May, Reading};
use crate::body;
use crate::error::Problem;
use crate::wire::feedback::{StretchResponse, shown_line};

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
#[utoipa::path(
    get,
    path = "/api/v1/events",
    tag = "events",
    summary = "The log in order; with Accept: text/event-stream as a stream",
    params(("after" = Option<u64>, Query), ("limit" = Option<u16>, Query), ("type" = Option<String>, Query), ("source" = Option<String>, Query)),
    responses((status = 200, description = "A stretch of the log", body = StretchResponse))
)]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parameters: Parameters,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let known = [
        ("after", Read::Plain),
        ("limit", Read::Plain),
        ("type", Read::Text),
        ("source", Read::Text),
    ];
    let request: ListRequest = body::shape(address::as_json(parameters, &known)?)?;
    let event_type =
        address::word("type", request.event_type.clone(), Type::from_word, Type::WORDS)?;
    let source = address::word("source", request.source.clone(), Source::from_word, Source::WORDS)?;
    let kind = KindFilter { types: event_type.map(same_types).unwrap_or_default(), source };
    answer(&engine, &scope, &request, vec![kind], &headers).await
}

/// `GET /api/v1/topics/{topic}`
#[utoipa::path(
    get,
    path = "/api/v1/topics/{topic}",
    tag = "events",
    summary = "A part of the log: feedback-events, feedback-ratings, feedback-corrections, feedback-metrics",
    params(("topic" = String, Path), ("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A stretch of the topic", body = StretchResponse))
)]
pub(crate) async fn topic(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    name: Parts<String>,
    parameters: Parameters,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let unknown = || {
        let names: Vec<&str> = Topic::ALL.iter().map(|(name, _)| *name).collect();
        Problem::not_found(format!("there is no such topic; there are {}", names.join(", ")))
    };
    let topic = Topic::from_name(&address::parts(name)?).ok_or_else(unknown)?;
    let known = [("after", Read::Plain), ("limit", Read::Plain)];
    let request: ListRequest = body::shape(address::as_json(parameters, &known)?)?;
    answer(&engine, &scope, &request, topic.kinds(), &headers).await
}

async fn answer(
    engine: &Arc<Engine>,
    scope: &May<Reading>,
    request: &ListRequest,
    any_of: Vec<KindFilter>,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let after = address::position("after", request.after)?;
    let limit = address::limit(request.limit, MAX_LIMIT, MAX_LIMIT)?;
    let key = match scope.caller() {
        Caller::Open | Caller::Owner => None,
        Caller::Key(key) => Some(key.id.clone()),
    };
    let scope = scope.get().clone();
    if wants_stream(headers) {
        let after = last_seen(headers)?.unwrap_or(after);
        return Ok(streamed(Arc::clone(engine), engine.feedback.follow(scope, after, any_of, key)));
    }
    let page = EventPage { scope, after, limit, any_of };
    Ok(Json(StretchResponse::from(engine.feedback.events(page).await?)).into_response())
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

/// Where a browser that lost its connection goes on.
fn last_seen(headers: &HeaderMap) -> Result<Option<Position>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let bad = || Problem::invalid("Last-Event-ID", "Last-Event-ID: expected a position in the log");
    let number = value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(bad)?;
    address::position("Last-Event-ID", Some(number)).map(Some)
}

/// Every event as a line with its position as the id, from there on and for as long as it is read.
fn streamed(engine: Arc<Engine>, follow: EventFollower) -> Response {
    let lines = stream::unfold((engine, follow), |(engine, mut follow)| async move {
        let event = match engine.feedback.next_event(&mut follow).await {
            Ok(event) => event?,
            Err(error) => {
                // The client comes back to where it was. That it is away the store says itself.
                match error.is_unavailable() {
                    true => tracing::debug!(%error, "a stream of events ended early"),
                    false => tracing::warn!(%error, "a stream of events ended early"),
                }
                return None;
            }
        };
        let position = event.position;
        let data = match shown_line(event) {
            Ok(data) => data,
            Err(error) => {
                tracing::error!(%position, %error, "an event cannot be written out");
                return None;
            }
        };
        let line = Line::default().id(position.to_string()).data(data);
        Some((Ok::<_, Infallible>(line), (engine, follow)))
    });
    Sse::new(lines).keep_alive(KeepAlive::default()).into_response()
}

/// `user_explicit` and `explicit` are one thing in every query.
fn same_types(event_type: Type) -> Vec<Type> {
    if matches!(event_type, Type::Explicit | Type::UserExplicit) {
        return vec![Type::Explicit, Type::UserExplicit];
    }
    vec![event_type]
}
