//! Turns: a question and its answer, in one request or two.

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

use super::feedback::read_request_key;
use super::stored_status;
use crate::body::{self, Payload};
use crate::error::{Problem, quote};
use crate::middleware::auth::{Authorized, ReadAccess, WriteAccess};
use crate::params::{self, ParamKind, PathParams, QueryParams};
use crate::wire::comment::CommentBody;
use crate::wire::reaction::{FeedbackBody, SatisfactionBody};
use crate::wire::report::{assistant_message, user_message};
use crate::wire::turn::{
    CompleteResponse, CompletionRequest, IncomingCompletion, OpenResponse, OpeningRequest,
    TurnRequest,
};
use crate::wire::verdict::{
    ReviewRequest, ReviewResponse, SignalsBody, metadata_json, verdict_json,
};

const OPEN_MAC_DOMAIN: &str = "turn";
const COMPLETE_MAC_DOMAIN: &str = "completion";
const REVIEW_MAC_DOMAIN: &str = "review";

#[utoipa::path(post, path = "/api/v1/turns", tag = "turns",
    summary = "Open a turn: a question, optionally with its answer (any field of /complete)",
    request_body(content = TurnRequest, example = json!({"conversation_id": "c1", "turn_id": "t1", "user_id": "ann", "text": "Laptops under $1000?"})),
    responses((status = 201, description = "Stored", body = OpenResponse), (status = 200, description = "Already stored by an earlier request; nothing changed", body = OpenResponse)))]
pub(crate) async fn open_turn(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    payload: Payload,
) -> Result<(StatusCode, Json<OpenResponse>), Problem> {
    let mut fields = body::parse_json(&payload)?;
    let key = read_request_key(&engine, &payload.headers, OPEN_MAC_DOMAIN, &[], &fields)?;
    let completion = match fields.as_object_mut().and_then(take_completion) {
        None => None,
        Some(completion) => Some(parse_completion(&engine, completion)?),
    };
    let (include, router) = take_include(&mut fields)?;
    let mac = engine.fingerprint(OPEN_MAC_DOMAIN, &fields);
    let request: OpeningRequest = body::decode_fields(fields).map_err(name_completion_fields)?;
    let opening = IncomingHalf { raw: request.into(), mac };
    let incoming = IncomingTurn { opening, completion, key, include, router };
    let receipt = engine.turns.open_turn(scope.get(), incoming).await?;
    Ok((stored_status(receipt.replayed), Json(OpenResponse::from(receipt))))
}

/// Adds the fields of the answer to the list of expected fields.
fn name_completion_fields(mut problem: Problem) -> Problem {
    if problem.detail.contains("unknown field") {
        let fields = CompletionRequest::FIELDS.join("`, `");
        problem.detail.push_str(&format!(", or of the answer `{fields}`"));
    }
    problem
}

/// Removes `include` and `router` from the fields. They are not part of the turn, so a retry may
/// change them.
fn take_include(fields: &mut Value) -> Result<(Include, Option<String>), Problem> {
    let mut include = Include::default();
    let Some(fields) = fields.as_object_mut() else { return Ok((include, None)) };
    let router = match fields.remove("router") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => {
            return Err(Problem::invalid(
                "router",
                "router is not a string, expected a router name",
            ));
        }
    };
    let mut route = false;
    let words = match fields.remove("include") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(words)) => words,
        Some(_) => {
            return Err(Problem::invalid(
                "include",
                "include is not a list, expected a list of strings",
            ));
        }
    };
    for word in words {
        match word.as_str() {
            Some("context") => include.context = true,
            Some("strategies") => include.strategies = true,
            Some("examples") => include.examples = true,
            Some("route") => route = true,
            Some(_) | None => {
                let word = quote(&word.as_str().map_or_else(|| word.to_string(), str::to_owned));
                let expected = "context, strategies, examples or route";
                let detail = format!("include has {word}, expected {expected}");
                return Err(Problem::invalid("include", detail));
            }
        }
    }
    match (route, router) {
        (true, None) => Err(Problem::invalid(
            "router",
            "router is missing, expected a router name to include a route",
        )),
        (true, router @ Some(_)) => Ok((include, router)),
        (false, _) => Ok((include, None)),
    }
}

/// Removes the fields of the answer. Returns `None` when all are absent or null.
fn take_completion(fields: &mut Map<String, Value>) -> Option<Value> {
    let take = |name: &&str| Some(((*name).to_owned(), fields.remove(*name)?));
    let taken: Map<String, Value> = CompletionRequest::FIELDS.iter().filter_map(take).collect();
    taken.values().any(|value| !value.is_null()).then_some(Value::Object(taken))
}

fn parse_completion(engine: &Engine, fields: Value) -> Result<IncomingCompletion, Problem> {
    let mac = engine.fingerprint(COMPLETE_MAC_DOMAIN, &fields);
    let request: CompletionRequest = body::decode_fields(fields)?;
    Ok(IncomingHalf { raw: RawCompletion::from(request), mac })
}

#[utoipa::path(post, path = "/api/v1/turns/{turn_id}/complete", tag = "turns",
    summary = "Complete a turn: store the answer to its question",
    params(("turn_id" = String, Path)),
    request_body(content = CompletionRequest, example = json!({"response": "Here are three ...", "model": "m1", "latency_ms": 1250})),
    responses((status = 200, description = "Stored; `replayed` is true when it was stored before", body = CompleteResponse)))]
pub(crate) async fn complete_turn(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    turn: PathParams<String>,
    payload: Payload,
) -> Result<Json<CompleteResponse>, Problem> {
    let turn = parse_turn_id(turn)?;
    let fields = body::parse_json(&payload)?;
    let key = read_request_key(
        &engine,
        &payload.headers,
        COMPLETE_MAC_DOMAIN,
        &[turn.as_str()],
        &fields,
    )?;
    let completion = parse_completion(&engine, fields)?;
    let receipt = engine.turns.complete_turn(scope.get(), turn, completion, key).await?;
    Ok(Json(CompleteResponse::from(receipt)))
}

#[utoipa::path(get, path = "/api/v1/turns/{turn_id}", tag = "turns",
    summary = "Show a turn with its answer, verdict and reactions",
    params(("turn_id" = String, Path)),
    responses((status = 200, description = "The turn", body = Object)))]
pub(crate) async fn show_turn(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    turn: PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let view = load_view(&engine, scope.get(), turn).await?;
    let patterns = load_patterns(&engine, scope.get(), std::slice::from_ref(&view)).await?;
    Ok(Json(turn_json(scope.get(), &view, patterns.as_deref())))
}

#[utoipa::path(get, path = "/api/v1/turns/{turn_id}/metadata", tag = "turns",
    summary = "Show a turn as a metadata.json document",
    params(("turn_id" = String, Path)),
    responses((status = 200, description = "The document", body = Object)))]
pub(crate) async fn show_metadata(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    turn: PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let view = load_view(&engine, scope.get(), turn).await?;
    Ok(Json(metadata_json(&view)))
}

#[utoipa::path(post, path = "/api/v1/turns/{turn_id}/review", tag = "turns",
    summary = "Review a turn: confirm or change the detected verdict",
    params(("turn_id" = String, Path)),
    request_body(content = ReviewRequest, example = json!({"status": "accepted"})),
    responses((status = 200, description = "Stored; the review overrides the detected verdict", body = ReviewResponse)))]
pub(crate) async fn review_turn(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    turn: PathParams<String>,
    payload: Payload,
) -> Result<Json<ReviewResponse>, Problem> {
    let turn = parse_turn_id(turn)?;
    let fields = body::parse_json(&payload)?;
    let key =
        read_request_key(&engine, &payload.headers, REVIEW_MAC_DOMAIN, &[turn.as_str()], &fields)?;
    let mac = engine.fingerprint(REVIEW_MAC_DOMAIN, &fields);
    let request: ReviewRequest = body::decode_fields(fields)?;
    let status = VerdictStatus::from_word(&request.status).ok_or_else(|| {
        let expected = VerdictStatus::WORDS.join(", ");
        let status = quote(&request.status);
        Problem::invalid("status", format!("status is {status}, expected one of {expected}"))
    })?;
    let receipt = engine.feedback.review(scope.get(), turn.clone(), status, mac, key).await?;
    Ok(Json(ReviewResponse {
        turn_id: turn.to_string(),
        status: status.as_word(),
        id: receipt.id.to_string(),
        replayed: receipt.replayed,
    }))
}

/// Loads the failure patterns that give comments their topic, when any turn has a comment.
pub(super) async fn load_patterns(
    engine: &Arc<Engine>,
    scope: &Scope,
    turns: &[TurnView],
) -> Result<Option<Arc<FailureReport>>, Problem> {
    if turns.iter().all(|view| view.comments.is_empty()) {
        return Ok(None);
    }
    Ok(Some(engine.insights.comment_patterns(scope).await?))
}

pub(super) fn turn_json(scope: &Scope, view: &TurnView, patterns: Option<&FailureReport>) -> Value {
    let comments: Vec<CommentBody> =
        view.comments.iter().map(|comment| CommentBody::new(comment, patterns)).collect();
    let items: Vec<FeedbackItem> =
        view.reactions.iter().map(|given| FeedbackItem::new(scope, given.clone())).collect();
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
        "user": user_message(&view.stored),
        "assistant": assistant_message(&view.stored),
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

#[utoipa::path(get, path = "/api/v1/turns/{turn_id}/log", tag = "turns",
    summary = "Show the log of a turn: timeline and active feedback, also as text",
    params(("turn_id" = String, Path), ("copy" = Option<bool>, Query)),
    responses((status = 200, description = "The log", body = Object)))]
pub(crate) async fn show_turn_log(
    State((engine, copies)): State<(Arc<Engine>, CopySettings)>,
    scope: Authorized<ReadAccess>,
    turn: PathParams<String>,
    parameters: QueryParams,
) -> Result<Json<Value>, Problem> {
    let request: LogRequest = params::decode_query(parameters, &[("copy", ParamKind::Scalar)])?;
    let (turn, log) = load_log(&engine, scope.get(), turn).await?;
    let document = if request.copy.unwrap_or(false) {
        let none = || {
            Problem::not_found("copy of the turn log not found; copies are written with a delay")
        };
        let id = &turn.head.turn;
        let copy = engine.turns.load_turn_log_copy(scope.get(), id, copies.place.as_ref()).await?;
        let unreadable = |_| {
            Problem::not_found("copy of the turn log not found: the stored copy is not valid JSON")
        };
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

async fn load_log(
    engine: &Engine,
    scope: &Scope,
    turn: PathParams<String>,
) -> Result<(engine::StoredTurn, report::TurnLog), Problem> {
    let turn = parse_turn_id(turn)?;
    engine.turns.turn_log(scope, turn.clone()).await?.ok_or_else(|| turn_not_found(&turn))
}

async fn load_view(
    engine: &Engine,
    scope: &Scope,
    turn: PathParams<String>,
) -> Result<TurnView, Problem> {
    let turn = parse_turn_id(turn)?;
    engine.turns.load_turn_view(scope, turn.clone()).await?.ok_or_else(|| turn_not_found(&turn))
}

fn turn_not_found(turn: &TurnId) -> Problem {
    Problem::not_found(format!("turn {turn} not found in this tenant and project"))
}

fn parse_turn_id(turn: PathParams<String>) -> Result<TurnId, Problem> {
    params::parse_id("turn_id", params::read_path(turn)?, TurnId::new)
}
