//! The timeline of a conversation.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::Engine;
use model::{ConversationId, Position, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::turns::{load_patterns, turn_json};
use crate::error::Problem;
use crate::middleware::auth::{Authorized, ReadAccess};
use crate::params::{self, ParamKind, PathParams, QueryParams};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 500;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimelineRequest {
    limit: Option<usize>,
    cursor: Option<String>,
}

#[utoipa::path(get, path = "/api/v1/conversations/{id}", tag = "turns",
    summary = "Show the timeline of a conversation: turns with verdicts, signals and reactions",
    params(("id" = String, Path), ("limit" = Option<usize>, Query), ("cursor" = Option<String>, Query)),
    responses((status = 200, description = "The latest turns, oldest first; next_cursor continues with older ones", body = Object)))]
pub(crate) async fn show_timeline(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    id: PathParams<String>,
    parameters: QueryParams,
) -> Result<Json<Value>, Problem> {
    let id = params::parse_id("id", params::read_path(id)?, ConversationId::new)?;
    let known = [("limit", ParamKind::Scalar), ("cursor", ParamKind::Text)];
    let request: TimelineRequest = params::decode_query(parameters, &known)?;
    let limit = params::check_count("limit", request.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let bad = || {
        Problem::invalid(
            "cursor",
            "cursor is invalid, expected the next_cursor of an earlier response",
        )
    };
    let older_than = match request.cursor.as_deref() {
        None => None,
        Some(text) => Some(read_cursor(text).ok_or_else(bad)?),
    };
    let found = engine.turns.load_timeline(scope.get(), id.clone(), older_than, limit).await?;
    let unknown = || {
        let detail = format!("conversation {id} not found in this tenant and project");
        Problem::not_found(detail)
    };
    let found = found.ok_or_else(unknown)?;
    let user = found.turns.iter().find_map(|view| view.exchange.user.as_ref());
    let patterns = load_patterns(&engine, scope.get(), &found.turns).await?;
    let shown = |view| turn_json(scope.get(), view, patterns.as_deref());
    let turns: Vec<Value> = found.turns.iter().map(shown).collect();
    Ok(Json(json!({
        "conversation_id": id.as_str(),
        "user_id": user.map(|id| id.as_str()),
        "turns": turns,
        "next_cursor": found.older_than.map(|(ts, at)| format!("{}-{at}", ts.as_micros())),
    })))
}

/// Parses `micros-position`: the time and the log position of the oldest turn shown.
fn read_cursor(text: &str) -> Option<(Timestamp, Position)> {
    let (micros, position) = text.rsplit_once('-')?;
    Some((Timestamp::from_micros(micros.parse().ok()?), Position(position.parse().ok()?)))
}
