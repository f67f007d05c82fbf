//! How good the answers are.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::Engine;
use model::Tenant;
use serde_json::Value;

use super::tenants::own_tenant;
use crate::address::{self, Parameters, Parts, Read};
use crate::auth::{Managing, May, Reading};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::slice;
use crate::wire::quality::{
    AlertBody, AlertsBody, AlertsQuery, QualityBody, TargetsBody, TargetsRequest, metrics,
};

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
    let buckets = engine.insights.quality(query.clone()).await?;
    let targets = engine.insights.tenant_targets(&query.tenant);
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
        turns: report::sum_buckets(&buckets).counts.turns,
        metrics: metrics(&buckets, |figure| targets.target_for(figure)),
    }))
}

/// `PUT /api/v1/tenants/{tenant}/targets`
#[utoipa::path(
    put,
    path = "/api/v1/tenants/{tenant}/targets",
    tag = "quality",
    summary = "Where figures should be, and who is told when they are not; takes the place of what was set before",
    params(("tenant" = String, Path)),
    request_body(content = TargetsRequest, example = json!({"satisfaction": {"min": 0.85}, "error_rate": {"max": 0.05}, "window_hours": 24})),
    responses((status = 200, description = "As it is now", body = TargetsBody))
)]
pub(crate) async fn set_targets(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    tenant: Parts<String>,
    sent: Sent,
) -> Result<Json<TargetsBody>, Problem> {
    let tenant = own_tenant(&scope, tenant)?;
    let Value::Object(settings) = body::json(&sent)? else {
        return Err(Problem::invalid("body", "the body is not a JSON object, expected one"));
    };
    engine.insights.set_targets(&tenant, settings).await?;
    Ok(Json(show(&engine, &tenant)))
}

/// `GET /api/v1/tenants/{tenant}/targets`
#[utoipa::path(
    get,
    path = "/api/v1/tenants/{tenant}/targets",
    tag = "quality",
    summary = "Where figures should be, and the secret that signs what the webhook is told",
    params(("tenant" = String, Path)),
    responses((status = 200, description = "As it is", body = TargetsBody))
)]
pub(crate) async fn targets(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    tenant: Parts<String>,
) -> Result<Json<TargetsBody>, Problem> {
    let tenant = own_tenant(&scope, tenant)?;
    Ok(Json(show(&engine, &tenant)))
}

fn show(engine: &Engine, tenant: &Tenant) -> TargetsBody {
    TargetsBody::of(tenant, &engine.insights.tenant_targets(tenant), || {
        engine.insights.webhook_secret(tenant)
    })
}

/// `GET /api/v1/alerts`
#[utoipa::path(
    get,
    path = "/api/v1/alerts",
    tag = "quality",
    summary = "Figures that are or were on the wrong side of their targets, newest first",
    params(("project" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, description = "Alerts", body = AlertsBody))
)]
pub(crate) async fn alerts(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parameters: Parameters,
) -> Result<Json<AlertsBody>, Problem> {
    let known = [("project", Read::Text), ("limit", Read::Plain)];
    let query: AlertsQuery = body::shape(address::as_json(parameters, &known)?)?;
    let limit = address::limit(query.limit, 100, 1000)?;
    let tenant = scope.get().tenant.as_str();
    let (tenant, project) = slice::of_tenant(&scope, tenant, query.project.as_deref())?;
    let found = engine.insights.alerts(&tenant, project.as_ref(), limit).await?;
    Ok(Json(AlertsBody { alerts: found.iter().map(AlertBody::of).collect() }))
}
