//! Figures for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use engine::Engine;
use model::Scope;

use crate::error::Problem;
use crate::middleware::auth::{Authorized, Caller, ReadAccess};
use crate::middleware::metrics::{self, RequestMetrics};

/// `GET /metrics`
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operation",
    summary = "Figures for Prometheus",
    responses((status = 200, description = "Text format", body = String, content_type = "text/plain"))
)]
pub(crate) async fn show_metrics(
    State((requests, engine)): State<(RequestMetrics, Arc<Engine>)>,
    reader: Authorized<ReadAccess>,
) -> Result<impl IntoResponse, Problem> {
    let format = "text/plain; version=0.0.4; charset=utf-8";
    // Whose figures are bad is for themselves to know.
    let alerts = match reader.caller() {
        Caller::Open | Caller::Owner => engine.standing_alerts(None).await?,
        Caller::Key(key) => engine.standing_alerts(Some(&key.tenant)).await?,
    };
    let own = |(scope, _): &(Scope, String)| match reader.caller() {
        Caller::Open | Caller::Owner => true,
        Caller::Key(key) => key.project.as_ref().is_none_or(|project| *project == scope.project),
    };
    let alerts: Vec<(Scope, String)> = alerts.into_iter().filter(own).collect();
    Ok(([(header::CONTENT_TYPE, format)], metrics::render_metrics(&requests, &engine, &alerts)))
}
