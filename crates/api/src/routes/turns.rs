//! Turns, each a question and its answer, and the timeline of a conversation.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::report::FeedbackItem;
use engine::{
    ContextFormat, CopySettings, Engine, FailureReport, Include, IncomingHalf, IncomingTurn,
    RawCompletion, ReactionCounts, RequestMark, TurnView,
};
use model::{ConversationId, Scope, TurnId, VerdictStatus};
use serde_json::{Map, Value, json};

use super::{StoredResult, read_mark, read_request_key, stored_status};
use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem, name_missing, quote};
use crate::middleware::auth::{ReadCall, WriteCall};
use crate::params::{self, ParamKind, PathParam, QueryParams};
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
const DEFAULT_TIMELINE_TURNS: usize = 100;
const MAX_TIMELINE_TURNS: usize = 500;

#[utoipa::path(post, path = "/api/v1/turns", tag = "turns",
    summary = "Open a turn: a question, optionally with its answer (any field of /complete)",
    request_body(content = TurnRequest, example = json!({"conversation_id": "c1", "turn_id": "t1", "user_id": "ann", "text": "Laptops under $1000?"})),
    responses((status = 201, description = "Stored", body = OpenResponse), (status = 200, description = "Already stored by an earlier request; nothing changed", body = OpenResponse)))]
pub(crate) async fn open_turn(call: WriteCall, payload: Payload) -> StoredResult<OpenResponse> {
    let mut fields = body::parse_json(&payload)?;
    let known = [&OpeningRequest::FIELDS[..], &CompletionRequest::FIELDS[..]].concat();
    body::rename_fields(&mut fields, &known)?;
    let key = read_request_key(&call.engine, &payload, OPEN_MAC_DOMAIN, &[], &fields)?;
    let completion = match fields.as_object_mut().and_then(take_completion) {
        None => None,
        Some(completion) => Some(parse_completion(&call.engine, completion)?),
    };
    let (include, router) = take_include(&mut fields)?;
    let mac = call.engine.fingerprint(OPEN_MAC_DOMAIN, &fields);
    let request: OpeningRequest = body::decode_fields(fields).map_err(name_completion_fields)?;
    let opening = IncomingHalf { raw: request.into(), mac };
    let incoming = IncomingTurn { opening, completion, key, include, router };
    let router = incoming.router.clone().unwrap_or_default();
    let opened = call.engine.turns.open_turn(call.scope(), incoming).await;
    let receipt = opened.map_err(name_missing(router))?;
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

/// Removes `include`, `context_format`, `read` and `router` from the fields. They are not part of the turn, so
/// a retry may change them.
fn take_include(fields: &mut Value) -> Result<(Include, Option<String>), Problem> {
    let mut include = Include::default();
    let Some(fields) = fields.as_object_mut() else { return Ok((include, None)) };
    let refuse = |field: &str, detail: &str| Err(Problem::invalid(field, detail));
    let router = match fields.remove("router") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return refuse("router", "router is not a string, expected a router name"),
    };
    let formats = [("prompt", ContextFormat::Prompt), ("sections", ContextFormat::Sections)];
    include.context_format = match fields.remove("context_format") {
        None | Some(Value::Null) => ContextFormat::default(),
        Some(Value::String(word)) => {
            params::choose_word("context_format", Some(word.as_str()), &formats)?
        }
        Some(_) => {
            let detail = "context_format is not a string, expected prompt or sections";
            return refuse("context_format", detail);
        }
    };
    let reading = [("background", false), ("now", true)];
    include.read_now = match fields.remove("read") {
        None | Some(Value::Null) => false,
        Some(Value::String(word)) => params::choose_word("read", Some(word.as_str()), &reading)?,
        Some(_) => return refuse("read", "read is not a string, expected background or now"),
    };
    let mut route = false;
    let words = match fields.remove("include") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(words)) => words,
        Some(_) => return refuse("include", "include is not a list, expected a list of strings"),
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
                return refuse("include", &format!("include has {word}, expected {expected}"));
            }
        }
    }
    match (route, router) {
        (true, None) => {
            refuse("router", "router is missing, expected a router name to include a route")
        }
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
    call: WriteCall,
    turn: PathParam,
    payload: Payload,
) -> ApiResult<CompleteResponse> {
    let turn = parse_turn_id(turn)?;
    let fields = body::parse_request::<CompletionRequest>(&payload)?;
    let address = [turn.as_str()];
    let key = read_request_key(&call.engine, &payload, COMPLETE_MAC_DOMAIN, &address, &fields)?;
    let completion = parse_completion(&call.engine, fields)?;
    let completed = call.engine.turns.complete_turn(call.scope(), turn.clone(), completion, key);
    let receipt = completed.await.map_err(name_missing(&turn))?;
    Ok(Json(CompleteResponse::from(receipt)))
}

#[utoipa::path(get, path = "/api/v1/turns/{turn_id}", tag = "turns",
    summary = "Show a turn with its answer, verdict and reactions",
    params(("turn_id" = String, Path)),
    responses((status = 200, description = "The turn", body = Object)))]
pub(crate) async fn show_turn(call: ReadCall, turn: PathParam) -> ApiResult<Value> {
    let view = load_view(&call, turn).await?;
    let patterns = load_patterns(&call, std::slice::from_ref(&view)).await?;
    Ok(Json(turn_json(call.scope(), &view, patterns.as_deref())))
}

#[utoipa::path(get, path = "/api/v1/turns/{turn_id}/metadata", tag = "turns",
    summary = "Show a turn as a metadata.json document",
    params(("turn_id" = String, Path)),
    responses((status = 200, description = "The document", body = Object)))]
pub(crate) async fn show_metadata(call: ReadCall, turn: PathParam) -> ApiResult<Value> {
    let view = load_view(&call, turn).await?;
    Ok(Json(metadata_json(&view)))
}

#[utoipa::path(post, path = "/api/v1/turns/{turn_id}/review", tag = "turns",
    summary = "Review a turn: confirm or change the detected verdict",
    params(("turn_id" = String, Path)),
    request_body(content = ReviewRequest, example = json!({"status": "accepted"})),
    responses((status = 200, description = "Stored; the review overrides the detected verdict", body = ReviewResponse)))]
pub(crate) async fn review_turn(
    call: WriteCall,
    turn: PathParam,
    payload: Payload,
) -> ApiResult<ReviewResponse> {
    let turn = parse_turn_id(turn)?;
    let fields = body::parse_request::<ReviewRequest>(&payload)?;
    let address = [turn.as_str()];
    let mark = read_mark(&call.engine, &payload, REVIEW_MAC_DOMAIN, &address, &fields)?;
    let ReviewRequest { status } = body::decode_fields(fields)?;
    let (words, from_word) = (VerdictStatus::WORDS, VerdictStatus::from_word);
    let status = params::parse_word("status", &status, from_word, words)?;
    let RequestMark { mac, key } = mark;
    let reviewed = call.engine.feedback.review(call.scope(), turn.clone(), status, mac, key);
    let receipt = reviewed.await.map_err(name_missing(&turn))?;
    Ok(Json(ReviewResponse {
        turn_id: turn.to_string(),
        status: status.as_word(),
        id: receipt.id.to_string(),
        replayed: receipt.replayed,
    }))
}

/// Loads the failure patterns that give comments their topic, when any turn has a comment.
pub(super) async fn load_patterns(
    call: &ReadCall,
    turns: &[TurnView],
) -> Result<Option<Arc<FailureReport>>, Problem> {
    if turns.iter().all(|view| view.comments.is_empty()) {
        return Ok(None);
    }
    Ok(Some(call.engine.insights.comment_patterns(call.scope()).await?))
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
        "language": exchange.language,
        "completed": view.stored.head.completed,
        "user": user_message(&view.stored),
        "assistant": assistant_message(&view.stored),
        "verdict": verdict_json(view),
        "signals": view.signals.as_ref().map(SignalsBody::from),
        "retries": view.retries,
        "reactions": feedbacks,
        "comments": comments,
        "satisfaction": view.satisfaction(),
        "reward": view.reward.value,
        "reward_weight": view.reward.weight,
        "satisfaction_rate": SatisfactionBody::from(&counts),
        "hosted_uri": view.stored.hosted_uri,
    })
}

#[utoipa::path(get, path = "/api/v1/turns/{turn_id}/log", tag = "turns",
    summary = "Show the log of a turn: timeline and active feedback, also as text",
    params(("turn_id" = String, Path), ("copy" = Option<bool>, Query)),
    responses((status = 200, description = "The log", body = Object)))]
pub(crate) async fn show_turn_log(
    State(copies): State<CopySettings>,
    call: ReadCall,
    turn: PathParam,
    query: QueryParams,
) -> ApiResult<Value> {
    let mut query = params::read_query(query, &[("copy", ParamKind::Scalar)])?;
    let is_copy = query.take("copy")?.unwrap_or(false);
    let id = parse_turn_id(turn)?;
    let found = call.engine.turns.turn_log(call.scope(), id.clone()).await?;
    let (turn, log) = found.ok_or_else(|| turn_not_found(&id))?;
    let document = if is_copy {
        let none = || {
            Problem::not_found("copy of the turn log not found; copies are written with a delay")
        };
        let place = copies.place.as_ref();
        let copy = call.engine.turns.load_turn_log_copy(call.scope(), &id, place).await?;
        let unreadable = |_| {
            Problem::not_found("copy of the turn log not found: the stored copy is not valid JSON")
        };
        serde_json::from_str(&copy.ok_or_else(none)?).map_err(unreadable)?
    } else {
        log.to_json()
    };
    Ok(Json(json!({
        "turn_id": id.as_str(),
        "kind": "artifact:turn.log",
        "hosted_uri": turn.hosted_uri,
        "turn_log": document,
    })))
}

#[utoipa::path(get, path = "/api/v1/conversations/{id}", tag = "turns",
    summary = "Show the timeline of a conversation: turns with verdicts, signals and reactions",
    params(("id" = String, Path), ("limit" = Option<usize>, Query), ("cursor" = Option<String>, Query)),
    responses((status = 200, description = "The latest turns, oldest first; next_cursor continues with older ones", body = Object)))]
pub(crate) async fn show_timeline(
    call: ReadCall,
    id: PathParam,
    query: QueryParams,
) -> ApiResult<Value> {
    let id = params::read_id("id", id, ConversationId::new)?;
    let known = [("limit", ParamKind::Scalar), ("cursor", ParamKind::Text)];
    let mut query = params::read_query(query, &known)?;
    let limit = query.take_limit(DEFAULT_TIMELINE_TURNS, MAX_TIMELINE_TURNS)?;
    let bad = "cursor is invalid, expected the next_cursor of an earlier response";
    let bad = || Problem::invalid("cursor", bad);
    let cursor: Option<String> = query.take("cursor")?;
    let older_than = cursor.map(|text| params::parse_cursor(&text).ok_or_else(bad)).transpose()?;
    let found =
        call.engine.turns.load_timeline(call.scope(), id.clone(), older_than, limit).await?;
    let unknown = || Problem::not_in_scope(format_args!("conversation {id}"));
    let found = found.ok_or_else(unknown)?;
    let user = found.turns.iter().find_map(|view| view.exchange.user.as_ref());
    let patterns = load_patterns(&call, &found.turns).await?;
    let shown = |view| turn_json(call.scope(), view, patterns.as_deref());
    let turns: Vec<Value> = found.turns.iter().map(shown).collect();
    Ok(Json(json!({
        "conversation_id": id.as_str(),
        "user_id": user.map(|id| id.as_str()),
        "turns": turns,
        "next_cursor": found.older_than.map(|(ts, at)| format!("{}-{at}", ts.as_micros())),
    })))
}

async fn load_view(call: &ReadCall, turn: PathParam) -> Result<TurnView, Problem> {
    let turn = parse_turn_id(turn)?;
    let found = call.engine.turns.load_turn_view(call.scope(), turn.clone()).await?;
    found.ok_or_else(|| turn_not_found(&turn))
}

fn turn_not_found(turn: &TurnId) -> Problem {
    Problem::not_in_scope(format_args!("turn {turn}"))
}

fn parse_turn_id(turn: PathParam) -> Result<TurnId, Problem> {
    params::read_id("turn_id", turn, TurnId::new)
}
