//! Conversation reports, with parameters in the body (POST) or in the query (GET).

use axum::Json;
use engine::ReactionFilter;
use engine::report::{ConversationRequest, PeriodRequest};
use model::{ConversationId, Origin, Reaction, Scope, Timestamp, TurnId, UserId};
use serde_json::Value;

use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem, quote};
use crate::middleware::auth::ReadCall;
use crate::params::{self, ParamKind, PathParams, QueryParams};
use crate::wire::report::{
    ConversationBody, ConversationRequestBody, Include, PeriodBody, PeriodRequestBody,
    TurnReportBody,
};
use crate::wire::time::TimeInput;

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
    call: ReadCall,
    parts: PathParams<ConversationPath>,
    payload: Payload,
) -> ApiResult<ConversationBody> {
    build_conversation_report(&call, parts, body::parse_json_or_empty(&payload)?).await
}

#[utoipa::path(get, path = "/conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks", tag = "reports",
    summary = "Report the turns of a conversation that have reactions; turn_ids and include are comma-separated",
    params(("tenant" = String, Path), ("project" = String, Path), ("conversation_id" = String, Path), ("turn_ids" = Option<String>, Query), ("days" = Option<u16>, Query), ("include" = Option<String>, Query)),
    responses((status = 200, description = "The turns with their reactions", body = ConversationBody)))]
pub(crate) async fn report_conversation_by_query(
    call: ReadCall,
    parts: PathParams<ConversationPath>,
    query: QueryParams,
) -> ApiResult<ConversationBody> {
    let known =
        [("turn_ids", ParamKind::List), ("days", ParamKind::Scalar), ("include", ParamKind::List)];
    let fields = params::read_query(query, &known)?.into_json();
    build_conversation_report(&call, parts, fields).await
}

async fn build_conversation_report(
    call: &ReadCall,
    parts: PathParams<ConversationPath>,
    fields: Value,
) -> ApiResult<ConversationBody> {
    let (tenant, project, conversation) = params::read_path(parts)?;
    let scope = call.resolve_path(&tenant, &project)?;
    let conversation = params::parse_segment("conversation_id", conversation, ConversationId::new)?;
    let request: ConversationRequestBody = body::decode_fields(fields)?;
    let include = parse_include(request.include.unwrap_or_default())?;
    let turns = request.turn_ids.map(parse_turn_ids).transpose()?;
    let days = request.days.unwrap_or(DEFAULT_DAYS);
    let request = ConversationRequest {
        scope,
        conversation: conversation.clone(),
        turns,
        since: params::days_before("days", call.engine.now(), days)?,
        include_events: include.turn_log || include.assistant || include.user,
    };
    let report = call.engine.insights.conversation(request).await?;
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
    call: ReadCall,
    parts: PathParams<(String, String)>,
    payload: Payload,
) -> ApiResult<PeriodBody> {
    build_period_report(&call, parts, body::parse_json_or_empty(&payload)?).await
}

#[utoipa::path(get, path = "/conversations/{tenant}/{project}/feedback/conversations-in-period", tag = "reports",
    summary = "List conversations with feedback in a period; parameters in the query",
    params(("tenant" = String, Path), ("project" = String, Path), ("start" = Option<String>, Query), ("end" = Option<String>, Query), ("include_turns" = Option<bool>, Query), ("limit" = Option<u16>, Query), ("cursor" = Option<String>, Query), ("user_id" = Option<String>, Query), ("origin" = Option<String>, Query), ("reaction" = Option<String>, Query)),
    responses((status = 200, description = "A page; next_cursor continues it", body = PeriodBody)))]
pub(crate) async fn report_period_by_query(
    call: ReadCall,
    parts: PathParams<(String, String)>,
    query: QueryParams,
) -> ApiResult<PeriodBody> {
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
    let fields = params::read_query(query, &known)?.into_json();
    build_period_report(&call, parts, fields).await
}

async fn build_period_report(
    call: &ReadCall,
    parts: PathParams<(String, String)>,
    fields: Value,
) -> ApiResult<PeriodBody> {
    let (tenant, project) = params::read_path(parts)?;
    let scope = call.resolve_path(&tenant, &project)?;
    let request: PeriodRequestBody = body::decode_fields(fields)?;
    let request = parse_period_request(call.engine.now(), scope.clone(), request)?;
    let report = call.engine.insights.period(request).await?;
    Ok(Json(PeriodBody::new(&scope, report)))
}

fn parse_period_request(
    now: Timestamp,
    scope: Scope,
    request: PeriodRequestBody,
) -> Result<PeriodRequest, Problem> {
    let parse = |field: &str, given: Option<TimeInput>| {
        given.map(|time| params::parse_time(field, &time.into_text())).transpose()
    };
    let (start, end) = (parse("start", request.start)?, parse("end", request.end)?);
    let missing = |field: &str| {
        let detail = format!("{field} is missing, expected start and end together");
        Err(Problem::invalid(field, detail))
    };
    let window = match (start, end) {
        (Some(start), Some(end)) => Some(params::check_window(start, end)?),
        (None, None) => None,
        (Some(_), None) => return missing("end"),
        (None, Some(_)) => return missing("start"),
    };
    let filter = ReactionFilter {
        user: params::parse_optional_id("user_id", request.user_id, UserId::new)?,
        origin: params::parse_optional_word(
            "origin",
            request.origin,
            Origin::from_word,
            Origin::WORDS,
        )?,
        reaction: params::parse_optional_word(
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
