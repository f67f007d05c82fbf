//! Figures for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use flow::Engine;

use crate::auth::{May, Reading};
use crate::metrics::{self, Requests};

/// `GET /metrics`
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operation",
    summary = "Figures for Prometheus",
    responses((status = 200, description = "Text format", body = String, content_type = "text/plain"))
)]
pub(crate) async fn show(
    State((requests, engine)): State<(Requests, Arc<Engine>)>,
    _reader: May<Reading>,
) -> impl IntoResponse {
    let format = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, format)], metrics::render(&requests, &engine))
}
