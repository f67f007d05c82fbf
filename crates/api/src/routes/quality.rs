//! Quality metrics, targets, alerts and the calibration of verdicts.

use axum::Json;
use engine::{Engine, ReactionTime};
use model::Tenant;
use serde_json::{Value, json};

use super::tenants::authorize_tenant;
use crate::body::{self, Payload};
use crate::error::ApiResult;
use crate::middleware::auth::{AdminCall, ReadCall};
use crate::params::{self, ParamKind, PathParam, QueryParams};
use crate::report_filter;
use crate::wire::quality::{
    AlertBody, AlertsBody, AlertsQuery, QualityBody, TargetsBody, TargetsRequest, metrics_by_name,
};

const DEFAULT_DAYS: u32 = 30;

#[utoipa::path(get, path = "/api/v1/feedback/quality/{tenant}", tag = "quality",
    summary = "Show quality metrics with intervals, targets and series; attr.NAME=VALUE filters by user attribute",
    params(("tenant" = String, Path), ("project" = Option<String>, Query), ("model" = Option<String>, Query), ("prompt" = Option<String>, Query), ("user_id" = Option<String>, Query), ("period_days" = Option<u16>, Query), ("start" = Option<String>, Query), ("end" = Option<String>, Query), ("bucket" = Option<String>, Query), ("by" = Option<String>, Query, description = "turn (default) counts a reaction in the bucket of its turn, reaction in the bucket in which it was given")),
    responses((status = 200, description = "Metrics by name", body = QualityBody)))]
pub(crate) async fn show_quality(
    call: ReadCall,
    tenant: PathParam,
    query: QueryParams,
) -> ApiResult<QualityBody> {
    let tenant = params::read_path(tenant)?;
    let now = call.engine.now();
    let query = report_filter::parse_quality_filter(&call, &tenant, query, now, DEFAULT_DAYS)?;
    let buckets = call.engine.insights.quality(query.clone()).await?;
    let targets = call.engine.insights.tenant_targets(&query.tenant);
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
        by: match query.by {
            ReactionTime::Turn => "turn",
            ReactionTime::Reaction => "reaction",
        },
        turns: engine::report::sum_buckets(&buckets).counts.turns,
        metrics: metrics_by_name(&buckets, |figure| targets.target_for(figure)),
    }))
}

#[utoipa::path(put, path = "/api/v1/tenants/{tenant}/targets", tag = "quality",
    summary = "Replace the targets of quality metrics and the alert webhook",
    params(("tenant" = String, Path)),
    request_body(content = TargetsRequest, example = json!({"satisfaction": {"min": 0.85}, "error_rate": {"max": 0.05}, "window_hours": 24})),
    responses((status = 200, description = "The stored targets", body = TargetsBody)))]
pub(crate) async fn set_targets(
    call: AdminCall,
    tenant: PathParam,
    payload: Payload,
) -> ApiResult<TargetsBody> {
    let tenant = authorize_tenant(&call, tenant)?;
    let settings = body::require_object(body::parse_json(&payload)?)?;
    call.engine.insights.set_targets(&tenant, settings).await?;
    Ok(Json(targets_body(&call.engine, &tenant)))
}

#[utoipa::path(get, path = "/api/v1/tenants/{tenant}/targets", tag = "quality",
    summary = "Show the targets and the webhook with its signing secret",
    params(("tenant" = String, Path)),
    responses((status = 200, description = "The targets", body = TargetsBody)))]
pub(crate) async fn show_targets(call: AdminCall, tenant: PathParam) -> ApiResult<TargetsBody> {
    let tenant = authorize_tenant(&call, tenant)?;
    Ok(Json(targets_body(&call.engine, &tenant)))
}

fn targets_body(engine: &Engine, tenant: &Tenant) -> TargetsBody {
    TargetsBody::new(tenant, &engine.insights.tenant_targets(tenant), || {
        engine.insights.webhook_secret(tenant)
    })
}

#[utoipa::path(get, path = "/api/v1/alerts", tag = "quality",
    summary = "List alerts: metrics that miss or missed their targets, newest first",
    params(("project" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, description = "Alerts", body = AlertsBody)))]
pub(crate) async fn list_alerts(call: ReadCall, query: QueryParams) -> ApiResult<AlertsBody> {
    let known = [("project", ParamKind::Text), ("limit", ParamKind::Scalar)];
    let query = params::read_query(query, &known)?.into_json();
    let query: AlertsQuery = body::decode_fields(query)?;
    let limit = params::check_count("limit", query.limit, 100, 1000)?;
    let tenant = call.scope().tenant.as_str();
    let (tenant, project) = report_filter::resolve_tenant(&call, tenant, query.project.as_deref())?;
    let found = call.engine.insights.alerts(&tenant, project.as_ref(), limit).await?;
    Ok(Json(AlertsBody { alerts: found.iter().map(AlertBody::new).collect() }))
}

#[utoipa::path(get, path = "/api/v1/calibration", tag = "turns",
    summary = "Show how well verdict confidences match ratings and reviews, and the curve that corrects them",
    responses((status = 200, description = "Labels, curve and reliability", body = Object)))]
pub(crate) async fn show_calibration(call: ReadCall) -> ApiResult<Value> {
    let found = call.engine.turns.calibration_report(call.scope()).await?;
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
