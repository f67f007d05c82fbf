//! Turns, in one step or two.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use event::{Scope, TurnId};
use flow::{Copies, Engine, IncomingHalf, IncomingTurn, RawCompletion, ReactionCounts};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::feedback::request_key;
use crate::address::{self, Parameters, Parts, Read};
use crate::auth::{May, Reading, Writing};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::wire::reaction::{FeedbackBody, SatisfactionBody};
use crate::wire::report::{assistant, user};
use crate::wire::turn::{
    CompleteResponse, CompletionRequest, Half, OpenResponse, OpeningRequest, TurnRequest,
};

const OPEN_DOOR: &str = "turn";
const COMPLETE_DOOR: &str = "completion";

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
    let mac = engine.fingerprint(OPEN_DOOR, &fields);
    let request: OpeningRequest = body::shape(fields)?;
    refuse_later_features(&request)?;
    let opening = IncomingHalf { raw: request.into(), mac };
    let incoming = IncomingTurn { opening, completion, key };
    let receipt = engine.open_turn(scope.get(), incoming).await?;
    let status = if receipt.replayed { StatusCode::OK } else { StatusCode::CREATED };
    let response = OpenResponse {
        turn_id: receipt.turn.to_string(),
        conversation_id: receipt.conversation.map(|id| id.to_string()),
        replayed: receipt.replayed,
        previous: None,
        retry: None,
        completed: receipt.completion.map(|done| CompleteResponse {
            turn_id: done.turn.to_string(),
            replayed: done.replayed,
        }),
    };
    Ok((status, Json(response)))
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

/// What a turn can bring back joins with the steps that make it; until then asking for it is an
/// error, not a silence.
fn refuse_later_features(request: &OpeningRequest) -> Result<(), Problem> {
    if let Some(word) = request.include.as_ref().and_then(|include| include.first()) {
        let detail = format!("include: this version cannot bring {word:?} yet, expected nothing");
        return Err(Problem::invalid("include", detail));
    }
    if request.router.is_some() {
        return Err(Problem::invalid("router", "router: this version has no routers yet"));
    }
    Ok(())
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
    let receipt = engine.complete_turn(scope.get(), turn, completion, key).await?;
    let turn_id = receipt.turn.to_string();
    Ok(Json(CompleteResponse { turn_id, replayed: receipt.replayed }))
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
    let (turn, log) = load(&engine, scope.get(), turn).await?;
    let feedbacks: Vec<FeedbackBody> = log.feedbacks.iter().map(FeedbackBody::from).collect();
    let mut counts = ReactionCounts::default();
    for item in &log.feedbacks {
        counts.add(item.reaction.origin, item.reaction.reaction, 1);
    }
    Ok(Json(json!({
        "turn_id": turn.head.turn.as_str(),
        "conversation_id": turn.head.conversation.as_ref().map(|id| id.as_str()),
        "user_id": turn.head.user.as_ref().map(|id| id.as_str()),
        "ts": turn.head.ts.to_string(),
        "completed": turn.head.completed,
        "user": user(&turn),
        "assistant": assistant(&turn),
        "reactions": feedbacks,
        "satisfaction": SatisfactionBody::from(&counts),
        "hosted_uri": turn.hosted_uri,
    })))
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
    State((engine, copies)): State<(Arc<Engine>, Copies)>,
    scope: May<Reading>,
    turn: Parts<String>,
    parameters: Parameters,
) -> Result<Json<Value>, Problem> {
    let request: LogRequest = body::shape(address::as_json(parameters, &[("copy", Read::Plain)])?)?;
    let (turn, log) = load(&engine, scope.get(), turn).await?;
    let document = if request.copy.unwrap_or(false) {
        let none = || Problem::not_found("there is no copy of this turn's log (yet)");
        let id = &turn.head.turn;
        let copy = engine.turn_log_copy(scope.get(), id, copies.place.as_ref()).await?;
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
) -> Result<(flow::StoredTurn, report::TurnLog), Problem> {
    let unknown = || Problem::not_found("there is no turn with this id here");
    engine.turn_log(scope, turn_id(turn)?).await?.ok_or_else(unknown)
}

fn turn_id(turn: Parts<String>) -> Result<TurnId, Problem> {
    address::id("turn_id", address::parts(turn)?, TurnId::new)
}
