//! A conversation as people look at it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::Engine;
use model::{ConversationId, Position, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::turns::{patterns_for, turn_json};
use crate::address::{self, Parameters, Parts, Read};
use crate::auth::{May, Reading};
use crate::body;
use crate::error::Problem;

const DEFAULT: usize = 100;
const MOST: usize = 500;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimelineRequest {
    limit: Option<usize>,
    cursor: Option<String>,
}

/// `GET /api/v1/conversations/{id}`
#[utoipa::path(
    get,
    path = "/api/v1/conversations/{id}",
    tag = "turns",
    summary = "The timeline of a conversation: turns with verdicts, signals and reactions",
    params(("id" = String, Path), ("limit" = Option<usize>, Query), ("cursor" = Option<String>, Query)),
    responses((status = 200, description = "The latest turns, oldest first; next_cursor leads to older ones", body = Object))
)]
pub(crate) async fn timeline(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    id: Parts<String>,
    parameters: Parameters,
) -> Result<Json<Value>, Problem> {
    let id = address::id("id", address::parts(id)?, ConversationId::new)?;
    let known = [("limit", Read::Plain), ("cursor", Read::Text)];
    let request: TimelineRequest = body::shape(address::as_json(parameters, &known)?)?;
    let limit = address::limit(request.limit, DEFAULT, MOST)?;
    let bad = || Problem::invalid("cursor", "cursor: expected a next_cursor of an earlier answer");
    let older_than = match request.cursor.as_deref() {
        None => None,
        Some(text) => Some(read_cursor(text).ok_or_else(bad)?),
    };
    let found = engine.turns.load_timeline(scope.get(), id.clone(), older_than, limit).await?;
    let unknown = || Problem::not_found("there is no conversation with this id here");
    let found = found.ok_or_else(unknown)?;
    let user = found.turns.iter().find_map(|view| view.exchange.user.as_ref());
    let patterns = patterns_for(&engine, scope.get(), &found.turns).await?;
    let shown = |view| turn_json(scope.get(), view, patterns.as_deref());
    let turns: Vec<Value> = found.turns.iter().map(shown).collect();
    Ok(Json(json!({
        "conversation_id": id.as_str(),
        "user_id": user.map(|id| id.as_str()),
        "turns": turns,
        "next_cursor": found.older_than.map(|(ts, at)| format!("{}-{at}", ts.as_micros())),
    })))
}

/// The time of a turn and where it was opened: no secret, and the key of the next page.
fn read_cursor(text: &str) -> Option<(Timestamp, Position)> {
    let (micros, position) = text.rsplit_once('-')?;
    Some((Timestamp::from_micros(micros.parse().ok()?), Position(position.parse().ok()?)))
}
