//! Failure patterns, insights and prompt suggestions.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use engine::Engine;
use model::EventId;
use report::Figure;
use serde_json::Value;

use super::feedback::read_request_key;
use super::stored_status;
use crate::body::{self, Payload};
use crate::error::Problem;
use crate::middleware::auth::{AdminAccess, Authorized, ReadAccess};
use crate::params::{self, PathParams, QueryParams};
use crate::report_filter;
use crate::wire::experiment::ExperimentBody;
use crate::wire::failure::{
    FailuresBody, ImprovementBody, InsightsBody, PatternBody, SuggestionBody, SuggestionsBody,
    SuggestionsRequest,
};

const MAC_DOMAIN: &str = "suggestion experiment";
const FAILURE_DAYS: u32 = 7;
const INSIGHT_DAYS: u32 = 30;
const MAX_INSIGHT_PATTERNS: usize = 5;

#[utoipa::path(get, path = "/api/v1/failures", tag = "learning",
    summary = "List failure patterns with examples, trends and over-represented attributes",
    params(("project" = Option<String>, Query), ("model" = Option<String>, Query), ("prompt" = Option<String>, Query), ("user_id" = Option<String>, Query), ("period_days" = Option<u16>, Query), ("start" = Option<String>, Query), ("end" = Option<String>, Query)),
    responses((status = 200, description = "Failure patterns, largest first", body = FailuresBody)))]
pub(crate) async fn list_failures(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    parameters: QueryParams,
) -> Result<Json<FailuresBody>, Problem> {
    let tenant = scope.get().tenant.to_string();
    let query =
        report_filter::parse_filter(&scope, &tenant, parameters, engine.now(), FAILURE_DAYS)?;
    Ok(Json((&*engine.insights.failures(query).await?).into()))
}

#[utoipa::path(get, path = "/api/v1/feedback/insights/{tenant}", tag = "quality",
    summary = "Show satisfaction, the top failure patterns and trends of a tenant",
    params(("tenant" = String, Path), ("project" = Option<String>, Query), ("model" = Option<String>, Query), ("prompt" = Option<String>, Query), ("user_id" = Option<String>, Query), ("period_days" = Option<u16>, Query), ("start" = Option<String>, Query), ("end" = Option<String>, Query)),
    responses((status = 200, description = "Insights", body = InsightsBody)))]
pub(crate) async fn show_insights(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    tenant: PathParams<String>,
    parameters: QueryParams,
) -> Result<Json<InsightsBody>, Problem> {
    let tenant = params::read_path(tenant)?;
    let query =
        report_filter::parse_filter(&scope, &tenant, parameters, engine.now(), INSIGHT_DAYS)?;
    let [now, before] = engine.insights.quality_now_and_before(query.clone()).await?;
    let found = engine.insights.failures(query.clone()).await?;
    let trend = |figure: &Figure| {
        let body = ImprovementBody::new(*figure, figure.read(&now), figure.read(&before));
        (figure.as_word(), body)
    };
    Ok(Json(InsightsBody {
        tenant: query.tenant.to_string(),
        start: query.window.start.to_string(),
        end: query.window.end.to_string(),
        overall_satisfaction: Figure::Satisfaction.read(&now).into(),
        accuracy_rate: Figure::AccuracyRate.read(&now).into(),
        top_failure_patterns: found
            .patterns
            .iter()
            .take(MAX_INSIGHT_PATTERNS)
            .map(PatternBody::from)
            .collect(),
        improvement_trend: Figure::ALL.iter().map(trend).collect(),
        most_corrected_queries: found.most_corrected.iter().map(Into::into).collect(),
        comment_sentiment: (&now).into(),
    }))
}

#[utoipa::path(post, path = "/api/v1/prompts/suggestions", tag = "learning",
    summary = "Suggest prompt instructions from corrections and complaints that agree",
    request_body(content = SuggestionsRequest, example = json!({"window_days": 7})),
    responses((status = 200, description = "Suggestions in the order of their patterns", body = SuggestionsBody)))]
pub(crate) async fn suggest_prompts(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    payload: Payload,
) -> Result<Json<SuggestionsBody>, Problem> {
    let request: SuggestionsRequest = body::decode_fields(body::parse_json_or_empty(&payload)?)?;
    let mut parameters = Vec::new();
    if let Some(days) = request.window_days {
        if !(1..=3650).contains(&days) {
            let detail = format!("window_days is {days}, expected 1 to 3650");
            return Err(Problem::invalid("window_days", detail));
        }
        parameters.push(("period_days".to_owned(), days.to_string()));
    }
    parameters.extend(request.prompt_id.map(|prompt| ("prompt".to_owned(), prompt)));
    let tenant = scope.get().tenant.to_string();
    let mut query = report_filter::parse_filter(
        &scope,
        &tenant,
        Ok(Query(parameters)),
        engine.now(),
        FAILURE_DAYS,
    )?;
    // Suggestions are stored in the project they are derived from.
    query.project = Some(scope.get().project.clone());
    let kept = engine.insights.suggest(scope.get(), query).await?;
    Ok(Json(SuggestionsBody { suggestions: kept.into_iter().map(SuggestionBody::from).collect() }))
}

#[utoipa::path(post, path = "/api/v1/prompts/suggestions/{suggestion_id}/experiment", tag = "learning",
    summary = "Define an experiment that tests a suggestion; name, unit, metric, guardrails and rollout are optional",
    params(("suggestion_id" = String, Path)),
    request_body(content = Object, example = json!({"metric": "satisfaction"})),
    responses((status = 201, description = "The experiment, in DRAFT; start it when the application is ready", body = ExperimentBody), (status = 200, description = "Already defined by an earlier request; nothing changed", body = ExperimentBody)))]
pub(crate) async fn create_suggestion_experiment(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<AdminAccess>,
    id: PathParams<String>,
    payload: Payload,
) -> Result<(StatusCode, Json<ExperimentBody>), Problem> {
    let id = params::parse_id("suggestion_id", params::read_path(id)?, EventId::new)?;
    let fields = body::parse_json_or_empty(&payload)?;
    let key = read_request_key(&engine, &payload.headers, MAC_DOMAIN, &[id.as_str()], &fields)?;
    let mac = engine.fingerprint(MAC_DOMAIN, &fields);
    let Value::Object(wishes) = fields else {
        return Err(Problem::invalid("body", "the body is not a JSON object, expected one"));
    };
    let own = ["name", "unit", "metric", "by", "guardrails", "rollout", "adaptive", "alpha"];
    if let Some(other) = wishes.keys().find(|name| !own.contains(&name.as_str())) {
        let detail = format!("{other}: unknown field, expected {}", own.join(", "));
        return Err(Problem::invalid(other.clone(), detail));
    }
    let (view, replayed) =
        engine.insights.try_suggestion(scope.get(), &id, wishes, mac, key).await?;
    Ok((stored_status(replayed), Json(view.into())))
}
