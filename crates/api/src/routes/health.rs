//! Whether the server is there, and whether it can work.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::Engine;
use serde_json::{Value, json};

use crate::error::Problem;

/// `GET /health/live`
#[utoipa::path(
    get,
    path = "/health/live",
    tag = "operation",
    summary = "Whether the server is there",
    responses((status = 200, description = "It is", body = Object))
)]
pub(crate) async fn check_live() -> Json<Value> {
    Json(json!({"status": "live"}))
}

/// `GET /health/ready`
#[utoipa::path(
    get,
    path = "/health/ready",
    tag = "operation",
    summary = "Whether something could be stored now",
    responses((status = 200, description = "It could", body = Object))
)]
pub(crate) async fn check_ready(State(engine): State<Arc<Engine>>) -> Result<Json<Value>, Problem> {
    if !engine.is_ready().await {
        return Err(Problem::unavailable("nothing can be stored right now"));
    }
    Ok(Json(json!({"status": "ready", "position": engine.head().0})))
}
