//! Lists of conversations and turns, as JSON or CSV.

use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use engine::{ListCursor, ListQuery, RankedBy, TurnFilter, TurnMark};
use model::{
    ConversationId, ErrorType, Language, Reaction, Timestamp, UserId, VerdictStatus, Window,
};
use serde_json::{Value, json};

use super::turns::{load_patterns, turn_json};
use crate::error::Problem;
use crate::middleware::auth::ReadCall;
use crate::params::{self, ParamKind, QueryFields, QueryParams};
use crate::wire::csv::{Cell, write_csv};
use crate::wire::list::{ConversationListBody, ConversationSummaryBody};

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 500;
/// The word that selects both kinds of failed answers that a model wrote.
const REFUSAL_OR_ERROR: &str = "model_refusal_or_error";

const FILTERS: [(&str, ParamKind); 17] = [
    ("status", ParamKind::Text),
    ("reaction", ParamKind::Text),
    ("conversation_id", ParamKind::Text),
    ("user_id", ParamKind::Text),
    ("model", ParamKind::Text),
    ("prompt", ParamKind::Text),
    ("strategy", ParamKind::Text),
    ("intent", ParamKind::Text),
    ("tag", ParamKind::Text),
    ("language", ParamKind::Text),
    ("error_type", ParamKind::Text),
    ("text", ParamKind::Text),
    ("from", ParamKind::Text),
    ("to", ParamKind::Text),
    ("sort", ParamKind::Text),
    ("limit", ParamKind::Scalar),
    ("cursor", ParamKind::Text),
];

#[utoipa::path(get, path = "/api/v1/conversations", tag = "turns",
    summary = "List conversations that have a matching turn, with counts; CSV with Accept: text/csv",
    params(("status" = Option<String>, Query, description = "rejected, accepted or neutral"), ("reaction" = Option<String>, Query, description = "ok, not_ok or neutral"), ("conversation_id" = Option<String>, Query), ("user_id" = Option<String>, Query), ("model" = Option<String>, Query), ("prompt" = Option<String>, Query), ("strategy" = Option<String>, Query), ("intent" = Option<String>, Query), ("tag" = Option<String>, Query), ("language" = Option<String>, Query, description = "of the question: en, de, es, fr, pt, it, nl, ja or zh"), ("error_type" = Option<String>, Query, description = "execution_error, empty_response, model_refusal, error_text, truncated, wrong_language, repetition, or model_refusal_or_error for model_refusal and error_text"), ("text" = Option<String>, Query, description = "words in a question, answer or comment; with sort=recent only"), ("from" = Option<String>, Query), ("to" = Option<String>, Query), ("sort" = Option<String>, Query, description = "recent (default), worst, cost or latency"), ("limit" = Option<usize>, Query), ("cursor" = Option<String>, Query)),
    responses((status = 200, description = "A page; next_cursor continues it", body = ConversationListBody)))]
pub(crate) async fn list_conversations(
    call: ReadCall,
    query: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut fields = params::read_query(query, &FILTERS)?;
    let sort: Option<String> = fields.take("sort")?;
    let sorts = [
        ("recent", None),
        ("worst", Some(RankedBy::Problems)),
        ("cost", Some(RankedBy::Cost)),
        ("latency", Some(RankedBy::Latency)),
    ];
    let rank = params::choose_word("sort", sort.as_deref(), &sorts)?;
    let query = parse_query(&call, fields)?;
    if rank.is_some() && query.words.is_some() {
        let detail = "sort is given together with text, expected sort=recent or no text";
        return Err(Problem::invalid("sort", detail));
    }
    let page = call.engine.insights.summarise_conversations(query, rank).await?;
    if accepts_csv(&headers) {
        let rows = page.items.iter().map(ConversationSummaryBody::csv_cells);
        return Ok(csv_response(&ConversationSummaryBody::COLUMNS, rows, page.next));
    }
    let next_cursor = page.next.map(write_cursor);
    Ok(Json(ConversationListBody::new(page, next_cursor)).into_response())
}

#[utoipa::path(get, path = "/api/v1/turns", tag = "turns",
    summary = "List turns, newest first, each as GET /api/v1/turns/{turn_id} shows it; CSV with Accept: text/csv",
    params(("conversation_id" = Option<String>, Query), ("status" = Option<String>, Query, description = "rejected, accepted or neutral"), ("reaction" = Option<String>, Query, description = "ok, not_ok or neutral"), ("user_id" = Option<String>, Query), ("model" = Option<String>, Query), ("prompt" = Option<String>, Query), ("strategy" = Option<String>, Query), ("intent" = Option<String>, Query), ("tag" = Option<String>, Query), ("language" = Option<String>, Query, description = "of the question: en, de, es, fr, pt, it, nl, ja or zh"), ("error_type" = Option<String>, Query, description = "execution_error, empty_response, model_refusal, error_text, truncated, wrong_language, repetition, or model_refusal_or_error for model_refusal and error_text"), ("text" = Option<String>, Query, description = "words in a question, answer or comment"), ("from" = Option<String>, Query), ("to" = Option<String>, Query), ("sort" = Option<String>, Query, description = "recent"), ("limit" = Option<usize>, Query), ("cursor" = Option<String>, Query)),
    responses((status = 200, description = "A page; next_cursor continues it", body = Object)))]
pub(crate) async fn list_turns(
    call: ReadCall,
    query: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut fields = params::read_query(query, &FILTERS)?;
    let sort: Option<String> = fields.take("sort")?;
    if sort.is_some_and(|sort| sort != "recent") {
        return Err(Problem::invalid("sort", "sort: turns are listed by time, expected recent"));
    }
    let query = parse_query(&call, fields)?;
    let (views, next) = call.engine.turns.list_turns(call.scope(), query).await?;
    let patterns = load_patterns(&call, &views).await?;
    let turns: Vec<Value> =
        views.iter().map(|view| turn_json(call.scope(), view, patterns.as_deref())).collect();
    if accepts_csv(&headers) {
        return Ok(csv_response(&TURN_COLUMNS, turns.iter().map(turn_cells), next));
    }
    Ok(Json(json!({"items": turns, "next_cursor": next.map(write_cursor)})).into_response())
}

/// Parses all parameters but `sort`.
fn parse_query(call: &ReadCall, mut fields: QueryFields) -> Result<ListQuery, Problem> {
    let (from, to) = (fields.take_time("from")?, fields.take_time("to")?);
    // Client clocks may be ahead of ours, so the window has no end unless one is given.
    let (start, end) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
    let window = Window { start: from.unwrap_or(start), end: to.unwrap_or(end) };
    if window.start > window.end {
        return Err(Problem::invalid("to", "to is before from, expected a later time"));
    }
    let (statuses, reactions) = (VerdictStatus::WORDS, Reaction::WORDS);
    let status = fields.take("status")?;
    let status = params::parse_optional_word("status", status, VerdictStatus::from_word, statuses)?;
    let reaction = fields.take("reaction")?;
    let reaction =
        params::parse_optional_word("reaction", reaction, Reaction::from_word, reactions)?;
    let (language, languages) = (fields.take("language")?, Language::WORDS);
    let language =
        params::parse_optional_word("language", language, Language::from_word, languages)?;
    let conversation = fields.take("conversation_id")?;
    let error_type: Option<String> = fields.take("error_type")?;
    let filter = TurnFilter {
        status,
        reaction,
        strategy: fields.take("strategy")?,
        intent: fields.take("intent")?,
        language,
        tag: fields.take("tag")?,
        error_types: parse_error_types(error_type.as_deref())?,
        conversation: params::parse_optional_id(
            "conversation_id",
            conversation,
            ConversationId::new,
        )?,
    };
    let cursor: Option<String> = fields.take("cursor")?;
    Ok(ListQuery {
        tenant: call.scope().tenant.clone(),
        project: Some(call.scope().project.clone()),
        window,
        model: fields.take("model")?,
        prompt: fields.take("prompt")?,
        user: params::parse_optional_id("user_id", fields.take("user_id")?, UserId::new)?,
        words: fields.take("text")?,
        // Rejected turns have an index of their own.
        mark: if status == Some(VerdictStatus::Rejected) {
            TurnMark::Trouble
        } else {
            TurnMark::All
        },
        filter,
        behind: cursor.as_deref().map(read_cursor).transpose()?,
        limit: fields.take_limit(DEFAULT_LIMIT, MAX_LIMIT)?,
    })
}

fn parse_error_types(word: Option<&str>) -> Result<Vec<ErrorType>, Problem> {
    match word {
        None => Ok(Vec::new()),
        Some(REFUSAL_OR_ERROR) => Ok(vec![ErrorType::ModelRefusal, ErrorType::ErrorText]),
        Some(word) => {
            let words: Vec<&str> =
                ErrorType::WORDS.iter().copied().chain([REFUSAL_OR_ERROR]).collect();
            params::parse_word("error_type", word, ErrorType::from_word, &words)
                .map(|one| vec![one])
        }
    }
}

fn write_cursor(cursor: ListCursor) -> String {
    format!("{}.{}", cursor.rank, cursor.key)
}

fn read_cursor(text: &str) -> Result<ListCursor, Problem> {
    let detail = "cursor is invalid, expected the next_cursor of an earlier response";
    let bad = || Problem::invalid("cursor", detail);
    let (rank, key) = text.split_once('.').ok_or_else(bad)?;
    let parse = |number: &str| number.parse::<i64>().map_err(|_| bad());
    Ok(ListCursor { rank: parse(rank)?, key: parse(key)? })
}

fn accepts_csv(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| {
        accept.split(',').any(|media| {
            media
                .split(';')
                .next()
                .is_some_and(|media| media.trim().eq_ignore_ascii_case("text/csv"))
        })
    })
}

/// A CSV page. The header `X-Next-Cursor` continues it.
fn csv_response(
    columns: &[&str],
    rows: impl Iterator<Item = Vec<Cell>>,
    next: Option<ListCursor>,
) -> Response {
    let body = write_csv(columns, rows);
    let mut response = ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], body).into_response();
    if let Some(next) = next.and_then(|next| write_cursor(next).parse().ok()) {
        response.headers_mut().insert("x-next-cursor", next);
    }
    response
}

const TURN_COLUMNS: [&str; 18] = [
    "turn_id",
    "conversation_id",
    "user_id",
    "ts",
    "question",
    "answer",
    "model",
    "strategy",
    "status",
    "confidence",
    "error_type",
    "latency_seconds",
    "cost",
    "satisfaction",
    "reward",
    "reward_weight",
    "reactions",
    "language",
];

/// The cells of a turn, from its JSON.
fn turn_cells(turn: &Value) -> Vec<Cell> {
    let assistant = &turn["assistant"];
    let reactions = turn["reactions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let reactions: Vec<&str> =
        reactions.iter().filter_map(|given| given["reaction"].as_str()).collect();
    vec![
        Cell::free(&turn["turn_id"]),
        Cell::free(&turn["conversation_id"]),
        Cell::free(&turn["user_id"]),
        Cell::exact(&turn["ts"]),
        Cell::free(&turn["user"]["text"]),
        Cell::free(&assistant["response"]),
        Cell::free(&assistant["model"]),
        Cell::free(&assistant["strategy"]["name"]),
        Cell::exact(&turn["verdict"]["status"]),
        Cell::exact(&turn["verdict"]["confidence"]),
        Cell::exact(&turn["signals"]["error"]["error_type"]),
        Cell::exact(&turn["signals"]["latency"]["seconds"]),
        Cell::exact(&assistant["cost"]),
        Cell::exact(&turn["satisfaction"]),
        Cell::exact(&turn["reward"]),
        Cell::exact(&turn["reward_weight"]),
        Cell::exact(&Value::from(reactions.join(" "))),
        Cell::exact(&turn["language"]),
    ]
}
