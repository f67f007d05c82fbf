//! A conversation as people look at it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use event::{ConversationId, Timestamp};
use flow::Engine;
use serde::Deserialize;
use serde_json::{Value, json};

use super::turns::turn_json;
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
    let bad = |_| Problem::invalid("cursor", "cursor: expected a next_cursor of an earlier answer");
    let until = request.cursor.as_deref().map(Timestamp::parse).transpose().map_err(bad)?;
    let found = engine.timeline(scope.get(), id.clone(), until, limit).await?;
    let unknown = || Problem::not_found("there is no conversation with this id here");
    let found = found.ok_or_else(unknown)?;
    let user = found.turns.iter().find_map(|view| view.exchange.user.as_ref());
    let turns: Vec<Value> = found.turns.iter().map(|view| turn_json(scope.get(), view)).collect();
    Ok(Json(json!({
        "conversation_id": id.as_str(),
        "user_id": user.map(|id| id.as_str()),
        "turns": turns,
        "next_cursor": found.older.map(|ts| ts.to_string()),
    })))
}
