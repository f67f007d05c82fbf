//! Dead letters: writes that were accepted but not stored.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{DeadLetter, Engine};
use model::Position;

use crate::error::Problem;
use crate::middleware::auth::{Authorized, ReadAccess, WriteAccess};
use crate::params::{self, PathParams, QueryParams};
use crate::wire::dead_letter::{DeadLetterBody, DeadLettersBody, ReplayedBody};

const MAX_LIMIT: usize = 500;

#[utoipa::path(get, path = "/api/v1/dead-letters", tag = "operation",
    summary = "List writes that were accepted but not stored, with the reason",
    params(("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A page; `next` continues it", body = DeadLettersBody)))]
pub(crate) async fn list_dead_letters(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    parameters: QueryParams,
) -> Result<Json<DeadLettersBody>, Problem> {
    let (Position(after), limit) = params::read_page(parameters, MAX_LIMIT)?;
    let found = engine.dead_letters(scope.get(), after, limit).await?;
    let next = found.last().map_or(after, |last: &DeadLetter| last.number);
    Ok(Json(DeadLettersBody { items: found.into_iter().map(DeadLetterBody::from).collect(), next }))
}

#[utoipa::path(post, path = "/api/v1/dead-letters/{id}/replay", tag = "operation",
    summary = "Store a dead letter again and remove it from the list",
    params(("id" = String, Path)),
    responses((status = 200, description = "The event is stored", body = ReplayedBody)))]
pub(crate) async fn replay_dead_letter(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    id: PathParams<String>,
) -> Result<Json<ReplayedBody>, Problem> {
    let id = params::read_path(id)?;
    engine.replay_dead_letter(scope.get(), &id).await?;
    Ok(Json(ReplayedBody { id, stored: true }))
}
