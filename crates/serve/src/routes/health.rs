//! Whether the server is there, and whether it can work.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use flow::Engine;
use serde_json::{Value, json};

use crate::error::Problem;

/// `GET /health/live`
pub(crate) async fn live() -> Json<Value> {
    Json(json!({"status": "live"}))
}

/// `GET /health/ready`
pub(crate) async fn ready(State(engine): State<Arc<Engine>>) -> Result<Json<Value>, Problem> {
    if !engine.is_ready().await {
        return Err(Problem::unavailable("nothing can be stored right now"));
    }
    Ok(Json(json!({"status": "ready", "position": engine.head().0})))
}
