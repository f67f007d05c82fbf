//! The event log and its topics, as pages or as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event as Line, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use engine::{Engine, EventFollower, EventPage, KindFilter, Topic};
use futures_util::stream;
use model::{Position, Source, Type};

use crate::error::{Problem, quote};
use crate::middleware::auth::ReadCall;
use crate::params::{self, ParamKind, PathParam, QueryParams};
use crate::wire::feedback::{StretchResponse, public_event_line};

const MAX_LIMIT: usize = 1000;

#[utoipa::path(get, path = "/api/v1/events", tag = "events",
    summary = "List events in log order, or stream them with Accept: text/event-stream",
    params(("after" = Option<u64>, Query), ("limit" = Option<u16>, Query), ("type" = Option<String>, Query), ("source" = Option<String>, Query)),
    responses((status = 200, description = "A page of the log; `next` continues it", body = StretchResponse)))]
pub(crate) async fn list_events(
    call: ReadCall,
    query: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let known = [
        ("after", ParamKind::Scalar),
        ("limit", ParamKind::Scalar),
        ("type", ParamKind::Text),
        ("source", ParamKind::Text),
    ];
    let mut query = params::read_query(query, &known)?;
    let event_type =
        params::parse_optional_word("type", query.take("type")?, Type::from_word, Type::WORDS)?;
    let source = params::parse_optional_word(
        "source",
        query.take("source")?,
        Source::from_word,
        Source::WORDS,
    )?;
    let kind = KindFilter { types: event_type.map(expand_type).unwrap_or_default(), source };
    let page = (query.take_position()?, query.take_limit(MAX_LIMIT, MAX_LIMIT)?);
    respond(&call, page, vec![kind], &headers).await
}

#[utoipa::path(get, path = "/api/v1/topics/{topic}", tag = "events",
    summary = "List the events of a topic: feedback-events, feedback-ratings, feedback-corrections, feedback-metrics",
    params(("topic" = String, Path), ("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A page of the topic; `next` continues it", body = StretchResponse)))]
pub(crate) async fn list_topic_events(
    call: ReadCall,
    name: PathParam,
    query: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let name = params::read_path(name)?;
    let unknown = || {
        let names: Vec<&str> = Topic::ALL_TOPICS.iter().map(|(name, _)| *name).collect();
        let expected = names.join(", ");
        Problem::not_found(format!("topic {} not found, expected one of {expected}", quote(&name)))
    };
    let topic = Topic::from_name(&name).ok_or_else(unknown)?;
    respond(&call, params::read_page(query, MAX_LIMIT)?, topic.kinds(), &headers).await
}

async fn respond(
    call: &ReadCall,
    (after, limit): (Position, usize),
    any_of: Vec<KindFilter>,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let (engine, scope) = (&call.engine, call.scope().clone());
    if wants_stream(headers) {
        let after = parse_last_event_id(headers)?.unwrap_or(after);
        let key = call.caller().key().map(|key| key.id.clone());
        let follow = engine.feedback.follow(scope, after, any_of, key);
        return Ok(stream_events(Arc::clone(engine), follow));
    }
    let page = EventPage { scope, after, limit, any_of };
    Ok(Json(StretchResponse::from(engine.feedback.events(page).await?)).into_response())
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

/// Browsers send the last position they received when they reconnect.
fn parse_last_event_id(headers: &HeaderMap) -> Result<Option<Position>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let bad =
        || Problem::invalid("Last-Event-ID", "Last-Event-ID is invalid, expected a log position");
    let number = value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(bad)?;
    params::check_position("Last-Event-ID", Some(number)).map(Some)
}

/// Streams events until the client disconnects. The id of each is its log position.
fn stream_events(engine: Arc<Engine>, follow: EventFollower) -> Response {
    let lines = stream::unfold((engine, follow), |(engine, mut follow)| async move {
        let event = match engine.feedback.next_event(&mut follow).await {
            Ok(event) => event?,
            Err(error) => {
                // The client reconnects and resumes. The store logs its own outage.
                match error.is_unavailable() {
                    true => tracing::debug!(%error, "event stream ended early"),
                    false => tracing::warn!(%error, "event stream ended early"),
                }
                return None;
            }
        };
        let position = event.position;
        let data = match public_event_line(event) {
            Ok(data) => data,
            Err(error) => {
                tracing::error!(%position, %error, "serializing an event failed");
                return None;
            }
        };
        let line = Line::default().id(position.to_string()).data(data);
        Some((Ok::<_, Infallible>(line), (engine, follow)))
    });
    Sse::new(lines).keep_alive(KeepAlive::default()).into_response()
}

/// `user_explicit` and `explicit` are synonyms in every query.
fn expand_type(event_type: Type) -> Vec<Type> {
    if matches!(event_type, Type::Explicit | Type::UserExplicit) {
        return vec![Type::Explicit, Type::UserExplicit];
    }
    vec![event_type]
}
