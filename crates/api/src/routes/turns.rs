//! Turns, in one step or two.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::{
    CopySettings, Engine, FailureReport, Include, IncomingHalf, IncomingTurn, RawCompletion,
    ReactionCounts, TurnView,
};
use model::{Scope, TurnId, VerdictStatus};
use report::FeedbackItem;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::feedback::request_key;
use crate::address::{self, Parameters, Parts, Read};
use crate::auth::{May, Reading, Writing};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::wire::comment::CommentBody;
use crate::wire::loops::{ReviewRequest, ReviewResponse, SignalsBody, metadata_json, verdict_json};
use crate::wire::reaction::{FeedbackBody, SatisfactionBody};
use crate::wire::report::{assistant, user};
use crate::wire::turn::{
    CompleteResponse, CompletionRequest, Half, OpenResponse, OpeningRequest, TurnRequest,
};

const OPEN_DOOR: &str = "turn";
const COMPLETE_DOOR: &str = "completion";
const REVIEW_DOOR: &str = "review";

/// `POST /api/v1/turns`
#[utoipa::path(
    post,
    path = "/api/v1/turns",
    tag = "turns",
    summary = "A question in, perhaps with its answer (any field of /complete)",
    request_body(content = TurnRequest, example = json!({"conversation_id": "c1", "turn_id": "t1", "user_id": "ann", "text": "Laptops under $1000?"})),
    responses((status = 201, description = "Stored", body = OpenResponse), (status = 200, description = "Stored before; nothing changed", body = OpenResponse))
)]
pub(crate) async fn open(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<(StatusCode, Json<OpenResponse>), Problem> {
    let mut fields = body::json(&sent)?;
    let key = request_key(&engine, &sent.headers, OPEN_DOOR, &[], &fields)?;
    let completion = match fields.as_object_mut().and_then(take_completion) {
        None => None,
        Some(completion) => Some(half(&engine, completion)?),
    };
    let (include, router) = take_include(&mut fields)?;
    let mac = engine.fingerprint(OPEN_DOOR, &fields);
    let request: OpeningRequest = body::shape(fields).map_err(with_second_half)?;
    let opening = IncomingHalf { raw: request.into(), mac };
    let incoming = IncomingTurn { opening, completion, key, include, router };
    let receipt = engine.turns.open_turn(scope.get(), incoming).await?;
    let status = if receipt.replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(OpenResponse::from(receipt))))
}

/// Who mistypes a field of the second half must not be told that only those of the first are expected.
fn with_second_half(mut problem: Problem) -> Problem {
    if problem.detail.contains("unknown field") {
        let fields = CompletionRequest::FIELDS.join("`, `");
        problem.detail.push_str(&format!(", or of the answer `{fields}`"));
    }
    problem
}

/// What the request wants back. It says nothing about the turn, so the same turn may come again
/// with another wish.
fn take_include(fields: &mut Value) -> Result<(Include, Option<String>), Problem> {
    let mut include = Include::default();
    let Some(fields) = fields.as_object_mut() else { return Ok((include, None)) };
    let router = match fields.remove("router") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err(Problem::invalid("router", "router: expected a name")),
    };
    let mut route = false;
    let wanted = match fields.remove("include") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(wanted)) => wanted,
        Some(_) => return Err(Problem::invalid("include", "include: expected a list of words")),
    };
    for word in wanted {
        match word.as_str() {
            Some("context") => include.context = true,
            Some("strategies") => include.strategies = true,
            Some("examples") => include.examples = true,
            Some("route") => route = true,
            // A wish that cannot be met is an error, not a silence.
            Some(_) | None => {
                let detail = format!(
                    "include: {word} is unknown, expected context, strategies, examples or route"
                );
                return Err(Problem::invalid("include", detail));
            }
        }
    }
    match (route, router) {
        (true, None) => {
            Err(Problem::invalid("router", "router: expected a name, to choose a route"))
        }
        (true, router @ Some(_)) => Ok((include, router)),
        (false, _) => Ok((include, None)),
    }
}

/// The fields of the second half, if any of them is there.
fn take_completion(fields: &mut Map<String, Value>) -> Option<Value> {
    let take = |name: &&str| Some(((*name).to_owned(), fields.remove(*name)?));
    let taken: Map<String, Value> = CompletionRequest::FIELDS.iter().filter_map(take).collect();
    // All of them null is a client that always sends every field.
    taken.values().any(|value| !value.is_null()).then_some(Value::Object(taken))
}

fn half(engine: &Engine, fields: Value) -> Result<Half, Problem> {
    let mac = engine.fingerprint(COMPLETE_DOOR, &fields);
    let request: CompletionRequest = body::shape(fields)?;
    Ok(IncomingHalf { raw: RawCompletion::from(request), mac })
}

/// `POST /api/v1/turns/{turn_id}/complete`
#[utoipa::path(
    post,
    path = "/api/v1/turns/{turn_id}/complete",
    tag = "turns",
    summary = "The answer to a question",
    params(("turn_id" = String, Path)),
    request_body(content = CompletionRequest, example = json!({"response": "Here are three ...", "model": "m1", "latency_ms": 1250})),
    responses((status = 200, description = "Stored, or stored before", body = CompleteResponse))
)]
pub(crate) async fn complete(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    turn: Parts<String>,
    sent: Sent,
) -> Result<Json<CompleteResponse>, Problem> {
    let turn = turn_id(turn)?;
    let fields = body::json(&sent)?;
    let key = request_key(&engine, &sent.headers, COMPLETE_DOOR, &[turn.as_str()], &fields)?;
    let completion = half(&engine, fields)?;
    let receipt = engine.turns.complete_turn(scope.get(), turn, completion, key).await?;
    Ok(Json(CompleteResponse::from(receipt)))
}

/// `GET /api/v1/turns/{turn_id}`
#[utoipa::path(
    get,
    path = "/api/v1/turns/{turn_id}",
    tag = "turns",
    summary = "A turn with its answer and reactions",
    params(("turn_id" = String, Path)),
    responses((status = 200, description = "The turn", body = Object))
)]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    turn: Parts<String>,
) -> Result<Json<Value>, Problem> {
    let view = load_view(&engine, scope.get(), turn).await?;
    let patterns = patterns_for(&engine, scope.get(), std::slice::from_ref(&view)).await?;
    Ok(Json(turn_json(scope.get(), &view, patterns.as_deref())))
}

/// `GET /api/v1/turns/{turn_id}/metadata`
#[utoipa::path(
    get,
    path = "/api/v1/turns/{turn_id}/metadata",
    tag = "turns",
    summary = "A turn as the source system's metadata.json",
    params(("turn_id" = String, Path)),
    responses((status = 200, description = "The document", body = Object))
)]
pub(crate) async fn metadata(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    turn: Parts<String>,
) -> Result<Json<Value>, Problem> {
    let view = load_view(&engine, scope.get(), turn).await?;
    Ok(Json(metadata_json(&view)))
}

/// `POST /api/v1/turns/{turn_id}/review`
#[utoipa::path(
    post,
    path = "/api/v1/turns/{turn_id}/review",
    tag = "turns",
    summary = "A person confirms or flips the machine's verdict",
    params(("turn_id" = String, Path)),
    request_body(content = ReviewRequest, example = json!({"status": "accepted"})),
    responses((status = 200, description = "Stored; it counts from now on", body = ReviewResponse))
)]
pub(crate) async fn review(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    turn: Parts<String>,
    sent: Sent,
) -> Result<Json<ReviewResponse>, Problem> {
    let turn = turn_id(turn)?;
    let fields = body::json(&sent)?;
    let key = request_key(&engine, &sent.headers, REVIEW_DOOR, &[turn.as_str()], &fields)?;
    let mac = engine.fingerprint(REVIEW_DOOR, &fields);
    let request: ReviewRequest = body::shape(fields)?;
    let status = VerdictStatus::from_word(&request.status).ok_or_else(|| {
        let expected = VerdictStatus::WORDS.join(", ");
        Problem::invalid("status", format!("status: expected one of {expected}"))
    })?;
    let receipt = engine.feedback.review(scope.get(), turn.clone(), status, mac, key).await?;
    Ok(Json(ReviewResponse {
        turn_id: turn.to_string(),
        status: status.as_word(),
        id: receipt.id.to_string(),
        replayed: receipt.replayed,
    }))
}

/// What goes wrong, if anybody commented on the turns and it must be told what that is about.
pub(super) async fn patterns_for(
    engine: &Arc<Engine>,
    scope: &Scope,
    turns: &[TurnView],
) -> Result<Option<Arc<FailureReport>>, Problem> {
    if turns.iter().all(|view| view.comments.is_empty()) {
        return Ok(None);
    }
    Ok(Some(engine.insights.comment_patterns(scope).await?))
}

/// A turn with everything that is known of it.
pub(super) fn turn_json(scope: &Scope, view: &TurnView, patterns: Option<&FailureReport>) -> Value {
    let comments: Vec<CommentBody> =
        view.comments.iter().map(|comment| CommentBody::of(comment, patterns)).collect();
    let items: Vec<FeedbackItem> =
        view.reactions.iter().map(|given| FeedbackItem::of(scope, given.clone())).collect();
    let feedbacks: Vec<FeedbackBody> = items.iter().map(FeedbackBody::from).collect();
    let mut counts = ReactionCounts::default();
    for given in &view.reactions {
        counts.add(given.origin, given.reaction, 1);
    }
    let exchange = &view.exchange;
    json!({
        "turn_id": exchange.turn.as_str(),
        "conversation_id": exchange.conversation.as_ref().map(|id| id.as_str()),
        "user_id": exchange.user.as_ref().map(|id| id.as_str()),
        "ts": exchange.ts.to_string(),
        "completed": view.stored.head.completed,
        "user": user(&view.stored),
        "assistant": assistant(&view.stored),
        "verdict": verdict_json(view),
        "signals": view.signals.as_ref().map(SignalsBody::from),
        "retries": view.retries,
        "reactions": feedbacks,
        "comments": comments,
        "satisfaction": view.satisfaction(),
        "satisfaction_rate": SatisfactionBody::from(&counts),
        "hosted_uri": view.stored.hosted_uri,
    })
}

/// `GET /api/v1/turns/{turn_id}/log`, from the store, or with `copy=true` the mirrored document.
#[utoipa::path(
    get,
    path = "/api/v1/turns/{turn_id}/log",
    tag = "turns",
    summary = "The log of a turn: timeline, active feedback, the whole as text",
    params(("turn_id" = String, Path), ("copy" = Option<bool>, Query)),
    responses((status = 200, description = "The log", body = Object))
)]
pub(crate) async fn log(
    State((engine, copies)): State<(Arc<Engine>, CopySettings)>,
    scope: May<Reading>,
    turn: Parts<String>,
    parameters: Parameters,
) -> Result<Json<Value>, Problem> {
    let request: LogRequest = body::shape(address::as_json(parameters, &[("copy", Read::Plain)])?)?;
    let (turn, log) = load(&engine, scope.get(), turn).await?;
    let document = if request.copy.unwrap_or(false) {
        let none = || Problem::not_found("there is no copy of this turn's log (yet)");
        let id = &turn.head.turn;
        let copy = engine.turns.load_turn_log_copy(scope.get(), id, copies.place.as_ref()).await?;
        let unreadable = |_| Problem::not_found("the copy of this turn's log is unreadable");
        serde_json::from_str(&copy.ok_or_else(none)?).map_err(unreadable)?
    } else {
        log.to_json()
    };
    Ok(Json(json!({
        "turn_id": turn.head.turn.as_str(),
        "kind": "artifact:turn.log",
        "hosted_uri": turn.hosted_uri,
        "turn_log": document,
    })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogRequest {
    copy: Option<bool>,
}

async fn load(
    engine: &Engine,
    scope: &Scope,
    turn: Parts<String>,
) -> Result<(engine::StoredTurn, report::TurnLog), Problem> {
    let unknown = || Problem::not_found("there is no turn with this id here");
    engine.turns.turn_log(scope, turn_id(turn)?).await?.ok_or_else(unknown)
}

async fn load_view(
    engine: &Engine,
    scope: &Scope,
    turn: Parts<String>,
) -> Result<TurnView, Problem> {
    let unknown = || Problem::not_found("there is no turn with this id here");
    engine.turns.load_turn_view(scope, turn_id(turn)?).await?.ok_or_else(unknown)
}

fn turn_id(turn: Parts<String>) -> Result<TurnId, Problem> {
    address::id("turn_id", address::parts(turn)?, TurnId::new)
}
