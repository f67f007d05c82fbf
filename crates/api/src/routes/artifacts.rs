//! Searches the index of reactions.

use axum::Json;
use engine::report::{ArtifactPage, ArtifactSearch};
use engine::{ReactionFilter, ReactionSearch};
use model::{ConversationId, Origin, Scope, Timestamp, TurnId, UserId, Window};

use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem, quote};
use crate::middleware::auth::ReadCall;
use crate::params;
use crate::wire::report::{ArtifactsBody, SearchRequestBody, TimestampFilter};

const KIND: &str = "artifact:turn.log.reaction";
const DEFAULT_DAYS: u32 = 365;
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 500;

#[utoipa::path(post, path = "/api/v1/artifacts/search", tag = "reports",
    summary = "Search reactions, newest first",
    request_body(content = SearchRequestBody, example = json!({"kinds": ["artifact:turn.log.reaction"], "scope": "conversation", "conversation_id": "c1", "with_payload": true})),
    responses((status = 200, description = "A page; next_cursor continues it", body = ArtifactsBody)))]
pub(crate) async fn search_artifacts(call: ReadCall, payload: Payload) -> ApiResult<ArtifactsBody> {
    let request: SearchRequestBody = body::decode_json(&payload)?;
    let with_payload = request.with_payload.unwrap_or(false);
    let page = match parse_search(call.scope().clone(), call.engine.now(), request)? {
        Some(search) => call.engine.insights.artifacts(search).await?,
        None => ArtifactPage { items: Vec::new(), next_cursor: None },
    };
    Ok(Json(ArtifactsBody::new(page, with_payload)))
}

/// Returns `None` when the tags contradict each other, so that nothing can match.
fn parse_search(
    scope: Scope,
    now: Timestamp,
    request: SearchRequestBody,
) -> Result<Option<ArtifactSearch>, Problem> {
    require_only("kinds", request.kinds, KIND)?;
    require_only("roles", request.roles, "artifact")?;
    require_only("sort", request.sort.map(|sort| vec![sort]), "recency")?;
    let user = params::parse_optional_id("user_id", request.user_id, UserId::new)?;
    let conversation =
        params::parse_optional_id("conversation_id", request.conversation_id, ConversationId::new)?;
    check_scope(request.scope.as_deref(), user.is_some(), conversation.is_some())?;
    let start = params::days_before("days", now, request.days.unwrap_or(DEFAULT_DAYS))?;
    // The window is open-ended, because client clocks may be ahead of ours.
    let open_ended = Window { start, end: Timestamp::from_micros(i64::MAX) };
    let mut query = ReactionSearch {
        scope,
        filter: ReactionFilter { user, ..ReactionFilter::default() },
        conversation,
        turn: None,
        track: None,
        window: narrow_window(open_ended, request.timestamp_filters.unwrap_or_default())?,
        before: None,
        limit: params::check_count("limit", request.limit, DEFAULT_LIMIT, MAX_LIMIT)?,
    };
    let mut possible = true;
    for (index, tag) in request.all_tags.unwrap_or_default().into_iter().enumerate() {
        possible &= add_tag(&mut query, &format!("all_tags[{index}]"), &tag)?;
    }
    Ok(possible.then_some(ArtifactSearch { query, cursor: request.cursor }))
}

fn require_only(field: &str, words: Option<Vec<String>>, known: &str) -> Result<(), Problem> {
    match words.and_then(|words| words.into_iter().find(|word| word != known)) {
        None => Ok(()),
        Some(word) => {
            let detail = format!("{field} has {}, expected only {known:?}", quote(&word));
            Err(Problem::invalid(field, detail))
        }
    }
}

/// Each scope requires its id. Every given id narrows the search.
fn check_scope(word: Option<&str>, user: bool, conversation: bool) -> Result<(), Problem> {
    let missing = |field: &str| {
        Problem::invalid(field, format!("{field} is missing, expected an id for this scope"))
    };
    match word {
        None | Some("project") => Ok(()),
        Some("user") if user => Ok(()),
        Some("user") => Err(missing("user_id")),
        Some("conversation") if conversation => Ok(()),
        Some("conversation") => Err(missing("conversation_id")),
        Some(other) => {
            let detail =
                format!("scope is {}, expected conversation, user or project", quote(other));
            Err(Problem::invalid("scope", detail))
        }
    }
}

fn narrow_window(mut window: Window, filters: Vec<TimestampFilter>) -> Result<Window, Problem> {
    for (index, filter) in filters.into_iter().enumerate() {
        let field = format!("timestamp_filters[{index}]");
        let moment = Timestamp::parse(&filter.value.into_text())
            .map_err(|bad| Problem::invalid(format!("{field}.value"), format!("{field}: {bad}")))?;
        let micros = moment.as_micros();
        let (start, end) = match filter.op.as_str() {
            ">=" => (Some(micros), None),
            ">" => (Some(micros + 1), None),
            "<=" => (None, Some(micros)),
            "<" => (None, Some(micros - 1)),
            "=" | "==" => (Some(micros), Some(micros)),
            other => {
                let detail = format!("{field}.op is {}, expected >=, >, <=, < or =", quote(other));
                return Err(Problem::invalid(format!("{field}.op"), detail));
            }
        };
        if let Some(start) = start {
            window.start = window.start.max(Timestamp::from_micros(start));
        }
        if let Some(end) = end {
            window.end = window.end.min(Timestamp::from_micros(end));
        }
    }
    Ok(window)
}

/// Returns false when the tag contradicts an earlier one.
fn add_tag(query: &mut ReactionSearch, field: &str, tag: &str) -> Result<bool, Problem> {
    let expected = "expected turn:<id>, origin:<user|machine>, track:<id> or the kind itself";
    let bad = || Problem::invalid(field, format!("{field} is {}, {expected}", quote(tag)));
    match tag.split_once(':') {
        Some(("turn", id)) => Ok(set_once(&mut query.turn, TurnId::new(id).map_err(|_| bad())?)),
        Some(("origin", word)) => {
            Ok(set_once(&mut query.filter.origin, Origin::from_word(word).ok_or_else(bad)?))
        }
        Some(("track", id)) if !id.is_empty() => Ok(set_once(&mut query.track, id.to_owned())),
        _ if tag == KIND => Ok(true),
        Some(_) | None => Err(bad()),
    }
}

/// Returns false when the slot already has a different value.
fn set_once<T: PartialEq>(slot: &mut Option<T>, value: T) -> bool {
    let possible = slot.as_ref().is_none_or(|before| *before == value);
    *slot = Some(value);
    possible
}
