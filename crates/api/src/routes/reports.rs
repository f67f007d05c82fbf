//! Conversation reports, with parameters in the body (POST) or in the query (GET).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{Engine, ReactionFilter};
use model::{ConversationId, Origin, Reaction, Scope, Timestamp, TurnId, UserId, Window};
use report::{ConversationRequest, PeriodRequest};
use serde_json::Value;

use crate::body::{self, Payload};
use crate::error::{Problem, quote};
use crate::middleware::auth::{Authorized, ReadAccess};
use crate::params::{self, ParamKind, PathParams, QueryParams};
use crate::scope::RequestScope;
use crate::wire::report::{
    ConversationBody, ConversationRequestBody, Include, PeriodBody, PeriodRequestBody,
    TurnReportBody,
};

const DEFAULT_DAYS: u32 = 365;
const MAX_TURNS: usize = 1000;
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 500;

type ConversationPath = (String, String, String);

#[utoipa::path(post, path = "/conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks", tag = "reports",
    summary = "Report the turns of a conversation that have reactions",
    params(("tenant" = String, Path), ("project" = String, Path), ("conversation_id" = String, Path)),
    request_body(content = ConversationRequestBody, example = json!({"days": 365, "include": ["turn_log"]})),
    responses((status = 200, description = "The turns with their reactions", body = ConversationBody)))]
pub(crate) async fn report_conversation(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    parts: PathParams<ConversationPath>,
    payload: Payload,
) -> Result<Json<ConversationBody>, Problem> {
    build_conversation_report(&engine, &scope, parts, body::parse_json_or_empty(&payload)?).await
}

#[utoipa::path(get, path = "/conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks", tag = "reports",
    summary = "Report the turns of a conversation that have reactions; turn_ids and include are comma-separated",
    params(("tenant" = String, Path), ("project" = String, Path), ("conversation_id" = String, Path), ("turn_ids" = Option<String>, Query), ("days" = Option<u16>, Query), ("include" = Option<String>, Query)),
    responses((status = 200, description = "The turns with their reactions", body = ConversationBody)))]
pub(crate) async fn report_conversation_by_query(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    parts: PathParams<ConversationPath>,
    parameters: QueryParams,
) -> Result<Json<ConversationBody>, Problem> {
    let known =
        [("turn_ids", ParamKind::List), ("days", ParamKind::Scalar), ("include", ParamKind::List)];
    let fields = params::query_to_json(parameters, &known)?;
    build_conversation_report(&engine, &scope, parts, fields).await
}

async fn build_conversation_report(
    engine: &Engine,
    scope: &RequestScope,
    parts: PathParams<ConversationPath>,
    fields: Value,
) -> Result<Json<ConversationBody>, Problem> {
    let (tenant, project, conversation) = params::read_path(parts)?;
    let scope = scope.resolve_path(&tenant, &project)?;
    let conversation = params::parse_id("conversation_id", conversation, ConversationId::new)?;
    let request: ConversationRequestBody = body::decode_fields(fields)?;
    let include = parse_include(request.include.unwrap_or_default())?;
    let turns = request.turn_ids.map(parse_turn_ids).transpose()?;
    let report = engine
        .insights
        .conversation(ConversationRequest {
            scope,
            conversation: conversation.clone(),
            turns,
            since: params::days_before(engine.now(), request.days.unwrap_or(DEFAULT_DAYS))?,
            include_events: include.turn_log || include.assistant || include.user,
        })
        .await?;
    Ok(Json(ConversationBody {
        user_id: report.user.as_ref().map(|id| id.to_string()),
        conversation_id: conversation.to_string(),
        turns: report.turns.iter().map(|turn| TurnReportBody::new(turn, include)).collect(),
        feedback_counts: (&report.counts).into(),
        satisfaction: (&report.counts).into(),
        truncated: report.truncated,
    }))
}

fn parse_turn_ids(ids: Vec<String>) -> Result<Vec<TurnId>, Problem> {
    if ids.len() > MAX_TURNS {
        let detail = format!("turn_ids has {} ids, expected at most {MAX_TURNS}", ids.len());
        return Err(Problem::invalid("turn_ids", detail));
    }
    ids.into_iter()
        .enumerate()
        .map(|(index, text)| params::parse_id(&format!("turn_ids[{index}]"), text, TurnId::new))
        .collect()
}

fn parse_include(words: Vec<String>) -> Result<Include, Problem> {
    let mut include = Include::default();
    for word in words {
        match word.as_str() {
            "turn_log" => include.turn_log = true,
            "assistant" => include.assistant = true,
            "user" => include.user = true,
            _ => {
                let detail =
                    format!("include has {}, expected turn_log, assistant or user", quote(&word));
                return Err(Problem::invalid("include", detail));
            }
        }
    }
    Ok(include)
}

#[utoipa::path(post, path = "/conversations/{tenant}/{project}/feedback/conversations-in-period", tag = "reports",
    summary = "List conversations with feedback in a period, newest activity first",
    params(("tenant" = String, Path), ("project" = String, Path)),
    request_body(content = PeriodRequestBody, example = json!({"start": "2026-01-01T00:00:00Z", "end": "2036-01-01T00:00:00Z", "include_turns": true, "limit": 100})),
    responses((status = 200, description = "A page; next_cursor continues it", body = PeriodBody)))]
pub(crate) async fn report_period(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    parts: PathParams<(String, String)>,
    payload: Payload,
) -> Result<Json<PeriodBody>, Problem> {
    build_period_report(&engine, &scope, parts, body::parse_json_or_empty(&payload)?).await
}

#[utoipa::path(get, path = "/conversations/{tenant}/{project}/feedback/conversations-in-period", tag = "reports",
    summary = "List conversations with feedback in a period; parameters in the query",
    params(("tenant" = String, Path), ("project" = String, Path), ("start" = Option<String>, Query), ("end" = Option<String>, Query), ("include_turns" = Option<bool>, Query), ("limit" = Option<u16>, Query), ("cursor" = Option<String>, Query), ("user_id" = Option<String>, Query), ("origin" = Option<String>, Query), ("reaction" = Option<String>, Query)),
    responses((status = 200, description = "A page; next_cursor continues it", body = PeriodBody)))]
pub(crate) async fn report_period_by_query(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    parts: PathParams<(String, String)>,
    parameters: QueryParams,
) -> Result<Json<PeriodBody>, Problem> {
    let known = [
        ("start", ParamKind::Text),
        ("end", ParamKind::Text),
        ("include_turns", ParamKind::Scalar),
        ("limit", ParamKind::Scalar),
        ("cursor", ParamKind::Text),
        ("user_id", ParamKind::Text),
        ("origin", ParamKind::Text),
        ("reaction", ParamKind::Text),
    ];
    let fields = params::query_to_json(parameters, &known)?;
    build_period_report(&engine, &scope, parts, fields).await
}

async fn build_period_report(
    engine: &Engine,
    scope: &RequestScope,
    parts: PathParams<(String, String)>,
    fields: Value,
) -> Result<Json<PeriodBody>, Problem> {
    let (tenant, project) = params::read_path(parts)?;
    let scope = scope.resolve_path(&tenant, &project)?;
    let request: PeriodRequestBody = body::decode_fields(fields)?;
    let request = parse_period_request(engine.now(), scope.clone(), request)?;
    let report = engine.insights.period(request).await?;
    Ok(Json(PeriodBody::new(&scope, report)))
}

fn parse_period_request(
    now: Timestamp,
    scope: Scope,
    request: PeriodRequestBody,
) -> Result<PeriodRequest, Problem> {
    let start = request.start.map(|text| params::parse_time("start", &text)).transpose()?;
    let end = request.end.map(|text| params::parse_time("end", &text)).transpose()?;
    let window = match (start, end) {
        (Some(start), Some(end)) if start > end => {
            return Err(Problem::invalid(
                "end",
                format!("end is {end}, expected a time after start {start}"),
            ));
        }
        (Some(start), Some(end)) => Some(Window { start, end }),
        (None, None) => None,
        (Some(_), None) => {
            return Err(Problem::invalid("end", "end is missing, expected start and end together"));
        }
        (None, Some(_)) => {
            return Err(Problem::invalid(
                "start",
                "start is missing, expected start and end together",
            ));
        }
    };
    let filter = ReactionFilter {
        user: params::parse_optional_id("user_id", request.user_id, UserId::new)?,
        origin: params::parse_word("origin", request.origin, Origin::from_word, Origin::WORDS)?,
        reaction: params::parse_word(
            "reaction",
            request.reaction,
            Reaction::from_word,
            Reaction::WORDS,
        )?,
    };
    let limit = params::check_count("limit", request.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let include_turns = request.include_turns.unwrap_or(false);
    Ok(PeriodRequest { scope, window, now, filter, limit, include_turns, cursor: request.cursor })
}
