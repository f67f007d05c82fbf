//! How good the answers are.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use flow::Engine;

use crate::address::{self, Parameters, Parts};
use crate::auth::{May, Reading};
use crate::error::Problem;
use crate::slice;
use crate::wire::quality::{QualityBody, metrics};

/// How far back a report goes that says nothing of it.
const DAYS: u32 = 30;

/// `GET /api/v1/feedback/quality/{tenant}`
#[utoipa::path(
    get,
    path = "/api/v1/feedback/quality/{tenant}",
    tag = "quality",
    summary = "Rates with their parts, intervals, targets and series; filters attr.NAME=VALUE too",
    params(("tenant" = String, Path), ("project" = Option<String>, Query), ("model" = Option<String>, Query), ("prompt" = Option<String>, Query), ("user_id" = Option<String>, Query), ("period_days" = Option<u16>, Query), ("start" = Option<String>, Query), ("end" = Option<String>, Query), ("bucket" = Option<String>, Query)),
    responses((status = 200, description = "Every figure by name", body = QualityBody))
)]
pub(crate) async fn quality(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    tenant: Parts<String>,
    parameters: Parameters,
) -> Result<Json<QualityBody>, Problem> {
    let tenant = address::parts(tenant)?;
    let query = slice::read(&scope, &tenant, parameters, engine.now(), DAYS)?;
    let buckets = engine.quality(query.clone()).await?;
    let bucket = match query.bucket_hours {
        1 => "hour",
        168 => "week",
        _ => "day",
    };
    Ok(Json(QualityBody {
        tenant: query.tenant.to_string(),
        project: query.project.map(|project| project.to_string()),
        start: query.window.start.to_string(),
        end: query.window.end.to_string(),
        bucket,
        turns: report::total(&buckets).counts.turns,
        metrics: metrics(&buckets, |figure| figure.default_target()),
    }))
}
