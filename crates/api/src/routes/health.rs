//! Liveness and readiness probes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::Engine;
use serde_json::{Value, json};

use crate::error::Problem;

#[utoipa::path(get, path = "/health/live", tag = "operation",
    summary = "Liveness probe",
    responses((status = 200, description = "The process is running", body = Object)))]
pub(crate) async fn check_live() -> Json<Value> {
    Json(json!({"status": "live"}))
}

#[utoipa::path(get, path = "/health/ready", tag = "operation",
    summary = "Readiness probe",
    responses((status = 200, description = "The store accepts writes", body = Object)))]
pub(crate) async fn check_ready(State(engine): State<Arc<Engine>>) -> Result<Json<Value>, Problem> {
    if !engine.is_ready().await {
        return Err(Problem::unavailable("the store accepts no writes"));
    }
    Ok(Json(json!({"status": "ready", "position": engine.head().0})))
}
