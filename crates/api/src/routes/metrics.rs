//! The Prometheus endpoint.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use engine::Engine;
use model::Scope;

use crate::error::Problem;
use crate::middleware::auth::{Authorized, Caller, ReadAccess};
use crate::middleware::metrics::{self, RequestMetrics};

#[utoipa::path(get, path = "/metrics", tag = "operation",
    summary = "Metrics for Prometheus",
    responses((status = 200, description = "Prometheus text format", body = String, content_type = "text/plain")))]
pub(crate) async fn show_metrics(
    State((requests, engine)): State<(RequestMetrics, Arc<Engine>)>,
    caller: Authorized<ReadAccess>,
) -> Result<impl IntoResponse, Problem> {
    let format = "text/plain; version=0.0.4; charset=utf-8";
    // A key sees alerts of its own scope only.
    let alerts = match caller.caller() {
        Caller::Open | Caller::Owner => engine.standing_alerts(None).await?,
        Caller::Key(key) => engine.standing_alerts(Some(&key.tenant)).await?,
    };
    let own = |(scope, _): &(Scope, String)| match caller.caller() {
        Caller::Open | Caller::Owner => true,
        Caller::Key(key) => key.project.as_ref().is_none_or(|project| *project == scope.project),
    };
    let alerts: Vec<(Scope, String)> = alerts.into_iter().filter(own).collect();
    Ok(([(header::CONTENT_TYPE, format)], metrics::render_metrics(&requests, &engine, &alerts)))
}
