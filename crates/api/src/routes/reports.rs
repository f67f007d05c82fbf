//! The two reports of the source system, by POST for programs and by GET for people.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{Engine, ReactionFilter};
use model::{ConversationId, Origin, Reaction, Scope, Timestamp, TurnId, UserId, Window};
use report::{ConversationRequest, PeriodRequest};
use serde_json::Value;

use crate::body::{self, Sent};
use crate::error::Problem;
use crate::middleware::auth::{May, Reading};
use crate::params::{self, Parameters, Parts, Read};
use crate::scope::RequestScope;
use crate::wire::report::{
    ConversationBody, ConversationRequestBody, Include, PeriodBody, PeriodRequestBody,
    TurnReportBody,
};

const DEFAULT_DAYS: u32 = 365;
const MAX_TURNS: usize = 1000;
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 500;

type Three = (String, String, String);

/// `POST /conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks`
#[utoipa::path(
    post,
    path = "/conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks",
    tag = "reports",
    summary = "The turns of a conversation that somebody reacted to",
    params(("tenant" = String, Path), ("project" = String, Path), ("conversation_id" = String, Path)),
    request_body(content = ConversationRequestBody, example = json!({"days": 365, "include": ["turn_log"]})),
    responses((status = 200, description = "The conversation", body = ConversationBody))
)]
pub(crate) async fn conversation(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parts: Parts<Three>,
    sent: Sent,
) -> Result<Json<ConversationBody>, Problem> {
    answer_conversation(&engine, &scope, parts, body::json_or_empty(&sent)?).await
}

/// The same by GET.
#[utoipa::path(
    get,
    path = "/conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks",
    tag = "reports",
    summary = "The same for people: turn_ids and include are lists with commas",
    params(("tenant" = String, Path), ("project" = String, Path), ("conversation_id" = String, Path), ("turn_ids" = Option<String>, Query), ("days" = Option<u16>, Query), ("include" = Option<String>, Query)),
    responses((status = 200, description = "The conversation", body = ConversationBody))
)]
pub(crate) async fn conversation_by_query(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parts: Parts<Three>,
    parameters: Parameters,
) -> Result<Json<ConversationBody>, Problem> {
    let known = [("turn_ids", Read::List), ("days", Read::Plain), ("include", Read::List)];
    let fields = params::as_json(parameters, &known)?;
    answer_conversation(&engine, &scope, parts, fields).await
}

async fn answer_conversation(
    engine: &Engine,
    scope: &RequestScope,
    parts: Parts<Three>,
    fields: Value,
) -> Result<Json<ConversationBody>, Problem> {
    let (tenant, project, conversation) = params::parts(parts)?;
    let scope = scope.at(&tenant, &project)?;
    let conversation = params::id("conversation_id", conversation, ConversationId::new)?;
    let request: ConversationRequestBody = body::shape(fields)?;
    let include = include(request.include.unwrap_or_default())?;
    let turns = request.turn_ids.map(turn_ids).transpose()?;
    let report = engine
        .conversation(ConversationRequest {
            scope,
            conversation: conversation.clone(),
            turns,
            since: params::days_ago(engine.now(), request.days.unwrap_or(DEFAULT_DAYS))?,
            include_events: include.turn_log || include.assistant || include.user,
        })
        .await?;
    Ok(Json(ConversationBody {
        user_id: report.user.as_ref().map(|id| id.to_string()),
        conversation_id: conversation.to_string(),
        turns: report.turns.iter().map(|turn| TurnReportBody::of(turn, include)).collect(),
        feedback_counts: (&report.counts).into(),
        satisfaction: (&report.counts).into(),
        truncated: report.truncated,
    }))
}

fn turn_ids(ids: Vec<String>) -> Result<Vec<TurnId>, Problem> {
    if ids.len() > MAX_TURNS {
        let detail = format!("turn_ids: {} ids, expected at most {MAX_TURNS}", ids.len());
        return Err(Problem::invalid("turn_ids", detail));
    }
    ids.into_iter()
        .enumerate()
        .map(|(index, text)| params::id(&format!("turn_ids[{index}]"), text, TurnId::new))
        .collect()
}

fn include(words: Vec<String>) -> Result<Include, Problem> {
    let mut include = Include::default();
    for word in words {
        match word.as_str() {
            "turn_log" => include.turn_log = true,
            "assistant" => include.assistant = true,
            "user" => include.user = true,
            _ => {
                let detail = "include: expected turn_log, assistant or user";
                return Err(Problem::invalid("include", detail));
            }
        }
    }
    Ok(include)
}

/// `POST /conversations/{tenant}/{project}/feedback/conversations-in-period`
#[utoipa::path(
    post,
    path = "/conversations/{tenant}/{project}/feedback/conversations-in-period",
    tag = "reports",
    summary = "Conversations with feedback in a period, newest activity first",
    params(("tenant" = String, Path), ("project" = String, Path)),
    request_body(content = PeriodRequestBody, example = json!({"start": "2026-01-01T00:00:00Z", "end": "2036-01-01T00:00:00Z", "include_turns": true, "limit": 100})),
    responses((status = 200, description = "A page", body = PeriodBody))
)]
pub(crate) async fn period(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parts: Parts<(String, String)>,
    sent: Sent,
) -> Result<Json<PeriodBody>, Problem> {
    answer_period(&engine, &scope, parts, body::json_or_empty(&sent)?).await
}

/// The same by GET.
#[utoipa::path(
    get,
    path = "/conversations/{tenant}/{project}/feedback/conversations-in-period",
    tag = "reports",
    summary = "The same for people",
    params(("tenant" = String, Path), ("project" = String, Path), ("start" = Option<String>, Query), ("end" = Option<String>, Query), ("include_turns" = Option<bool>, Query), ("limit" = Option<u16>, Query), ("cursor" = Option<String>, Query), ("user_id" = Option<String>, Query), ("origin" = Option<String>, Query), ("reaction" = Option<String>, Query)),
    responses((status = 200, description = "A page", body = PeriodBody))
)]
pub(crate) async fn period_by_query(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parts: Parts<(String, String)>,
    parameters: Parameters,
) -> Result<Json<PeriodBody>, Problem> {
    let known = [
        ("start", Read::Text),
        ("end", Read::Text),
        ("include_turns", Read::Plain),
        ("limit", Read::Plain),
        ("cursor", Read::Text),
        ("user_id", Read::Text),
        ("origin", Read::Text),
        ("reaction", Read::Text),
    ];
    let fields = params::as_json(parameters, &known)?;
    answer_period(&engine, &scope, parts, fields).await
}

async fn answer_period(
    engine: &Engine,
    scope: &RequestScope,
    parts: Parts<(String, String)>,
    fields: Value,
) -> Result<Json<PeriodBody>, Problem> {
    let (tenant, project) = params::parts(parts)?;
    let scope = scope.at(&tenant, &project)?;
    let request: PeriodRequestBody = body::shape(fields)?;
    let request = period_request(engine.now(), scope.clone(), request)?;
    let report = engine.period(request).await?;
    Ok(Json(PeriodBody::of(&scope, report)))
}

fn period_request(
    now: Timestamp,
    scope: Scope,
    request: PeriodRequestBody,
) -> Result<PeriodRequest, Problem> {
    let start = request.start.map(|text| moment("start", &text)).transpose()?;
    let end = request.end.map(|text| moment("end", &text)).transpose()?;
    let window = match (start, end) {
        (Some(start), Some(end)) if start > end => {
            return Err(Problem::invalid("end", "end: it is before start, expected a later time"));
        }
        (Some(start), Some(end)) => Some(Window { start, end }),
        (None, None) => None,
        (Some(_), None) => return Err(Problem::invalid("end", "end: missing beside start")),
        (None, Some(_)) => return Err(Problem::invalid("start", "start: missing beside end")),
    };
    let filter = ReactionFilter {
        user: request.user_id.map(|text| params::id("user_id", text, UserId::new)).transpose()?,
        origin: params::word("origin", request.origin, Origin::from_word, Origin::WORDS)?,
        reaction: params::word("reaction", request.reaction, Reaction::from_word, Reaction::WORDS)?,
    };
    let limit = params::limit(request.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let include_turns = request.include_turns.unwrap_or(false);
    Ok(PeriodRequest { scope, window, now, filter, limit, include_turns, cursor: request.cursor })
}

fn moment(field: &str, text: &str) -> Result<Timestamp, Problem> {
    Timestamp::parse_window_end(text)
        .map_err(|bad| Problem::invalid(field, format!("{field}: {bad}")))
}
