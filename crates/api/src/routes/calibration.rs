//! How right the confidences of verdicts are in a project.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::Engine;
use serde_json::{Value, json};

use crate::auth::{May, Reading};
use crate::error::Problem;

/// `GET /api/v1/calibration`
#[utoipa::path(
    get,
    path = "/api/v1/calibration",
    tag = "turns",
    summary = "How right the confidences of verdicts are, by ratings and reviews, and the curve that corrects them",
    responses((status = 200, description = "Labels, curve and reliability", body = Object))
)]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
) -> Result<Json<Value>, Problem> {
    let found = engine.turns.calibration_report(scope.get()).await?;
    let bins = found.reliability.iter().map(|bin| {
        json!({"from": bin.from, "to": bin.to, "confidence": bin.confidence,
            "calibrated": bin.calibrated, "right": bin.right, "n": bin.labels})
    });
    Ok(Json(json!({
        "labels": found.labels,
        "labels_needed": found.labels_needed,
        "curve": found.curve.map(|curve| json!({"slope": curve.slope, "offset": curve.offset})),
        "error": found.error.map(|(without, with)| json!({"without": without, "with": with})),
        "calibrated_at_position": found.position.map(|position| position.0),
        "reliability": bins.collect::<Vec<Value>>(),
    })))
}
