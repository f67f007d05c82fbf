//! Operations: health probes, metrics, dead letters and demo data.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use engine::{DEMO_TENANT, DeadLetter, Engine};
use model::Position;
use serde_json::{Value, json};

use crate::error::{ApiResult, Problem, name_missing};
use crate::middleware::auth::{AdminCall, Caller, ReadCall, WriteCall};
use crate::middleware::metrics::{self, RequestMetrics};
use crate::params::{self, PathParam, QueryParams};
use crate::wire::operations::{
    DeadLetterBody, DeadLettersBody, DemoBody, DemoRemovedBody, ReplayedBody,
};

const MAX_LIMIT: usize = 500;

#[utoipa::path(get, path = "/health/live", tag = "operation",
    summary = "Liveness probe",
    responses((status = 200, description = "The process is running", body = Object)))]
pub(crate) async fn check_live() -> Json<Value> {
    Json(json!({"status": "live"}))
}

#[utoipa::path(get, path = "/health/ready", tag = "operation",
    summary = "Readiness probe",
    responses((status = 200, description = "The store accepts writes", body = Object)))]
pub(crate) async fn check_ready(State(engine): State<Arc<Engine>>) -> ApiResult<Value> {
    if !engine.is_ready().await {
        return Err(Problem::unavailable("the store accepts no writes"));
    }
    Ok(Json(json!({"status": "ready", "position": engine.head().0})))
}

#[utoipa::path(get, path = "/metrics", tag = "operation",
    summary = "Metrics for Prometheus",
    responses((status = 200, description = "Prometheus text format", body = String, content_type = "text/plain")))]
pub(crate) async fn show_metrics(
    State(requests): State<RequestMetrics>,
    call: ReadCall,
) -> Result<impl IntoResponse, Problem> {
    let format = "text/plain; version=0.0.4; charset=utf-8";
    // A key sees alerts of its own scope only.
    let key = call.caller().key();
    let mut alerts = call.engine.insights.standing_alerts(key.map(|key| &key.tenant)).await?;
    if let Some(project) = key.and_then(|key| key.project.as_ref()) {
        alerts.retain(|(scope, _)| scope.project == *project);
    }
    let page = metrics::render_metrics(&requests, &call.engine, &alerts);
    Ok(([(header::CONTENT_TYPE, format)], page))
}

#[utoipa::path(get, path = "/api/v1/dead-letters", tag = "operation",
    summary = "List writes that were accepted but not stored, with the reason",
    params(("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A page; `next` continues it", body = DeadLettersBody)))]
pub(crate) async fn list_dead_letters(
    call: ReadCall,
    query: QueryParams,
) -> ApiResult<DeadLettersBody> {
    let (Position(after), limit) = params::read_page(query, MAX_LIMIT)?;
    let found = call.engine.feedback.dead_letters(call.scope(), after, limit).await?;
    let next = found.last().map_or(after, |last: &DeadLetter| last.number);
    Ok(Json(DeadLettersBody { items: found.into_iter().map(DeadLetterBody::from).collect(), next }))
}

#[utoipa::path(post, path = "/api/v1/dead-letters/{id}/replay", tag = "operation",
    summary = "Store a dead letter again and remove it from the list",
    params(("id" = String, Path)),
    responses((status = 200, description = "The event is stored", body = ReplayedBody)))]
pub(crate) async fn replay_dead_letter(call: WriteCall, id: PathParam) -> ApiResult<ReplayedBody> {
    let id = params::read_path(id)?;
    call.engine.feedback.replay_dead_letter(call.scope(), &id).await.map_err(name_missing(&id))?;
    Ok(Json(ReplayedBody { id, stored: true }))
}

#[utoipa::path(get, path = "/api/v1/demo", tag = "operation",
    summary = "Show whether the store holds demo data, and in which tenant",
    responses((status = 200, description = "Status of the demo data", body = DemoBody)))]
pub(crate) async fn show_demo(call: ReadCall) -> ApiResult<DemoBody> {
    let loaded = owns_demo(call.caller()) && call.engine.privacy.has_demo_data().await?;
    Ok(Json(DemoBody { loaded, tenant: loaded.then(|| DEMO_TENANT.to_owned()) }))
}

#[utoipa::path(delete, path = "/api/v1/demo", tag = "operation",
    summary = "Remove the demo tenant with everything in it",
    responses((status = 200, description = "Number of removed events", body = DemoRemovedBody)))]
pub(crate) async fn remove_demo(call: AdminCall) -> ApiResult<DemoRemovedBody> {
    let events = match owns_demo(call.caller()) {
        true => call.engine.privacy.remove_demo().await?,
        false => None,
    };
    Ok(Json(DemoRemovedBody { removed: events.is_some(), events: events.unwrap_or(0) as u64 }))
}

/// Keys of other tenants must not learn whether demo data exists.
fn owns_demo(caller: &Caller) -> bool {
    caller.key().is_none_or(|key| key.tenant.as_str() == DEMO_TENANT && key.project.is_none())
}
