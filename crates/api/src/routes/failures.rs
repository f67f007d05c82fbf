//! Failure patterns, insights and prompt suggestions.

use axum::Json;
use axum::extract::Query;
use engine::report::Figure;
use model::EventId;

use super::{StoredResult, read_mark, stored_status};
use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem, name_missing};
use crate::middleware::auth::{AdminCall, ReadCall};
use crate::params::{self, PathParam, QueryParams};
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
pub(crate) async fn list_failures(call: ReadCall, query: QueryParams) -> ApiResult<FailuresBody> {
    let tenant = call.scope().tenant.to_string();
    let query =
        report_filter::parse_filter(&call, &tenant, query, call.engine.now(), FAILURE_DAYS)?;
    Ok(Json((&*call.engine.insights.failure_report(query).await?).into()))
}

#[utoipa::path(get, path = "/api/v1/feedback/insights/{tenant}", tag = "quality",
    summary = "Show satisfaction, the top failure patterns and trends of a tenant",
    params(("tenant" = String, Path), ("project" = Option<String>, Query), ("model" = Option<String>, Query), ("prompt" = Option<String>, Query), ("user_id" = Option<String>, Query), ("period_days" = Option<u16>, Query), ("start" = Option<String>, Query), ("end" = Option<String>, Query)),
    responses((status = 200, description = "Insights", body = InsightsBody)))]
pub(crate) async fn show_insights(
    call: ReadCall,
    tenant: PathParam,
    query: QueryParams,
) -> ApiResult<InsightsBody> {
    let tenant = params::read_path(tenant)?;
    let query =
        report_filter::parse_filter(&call, &tenant, query, call.engine.now(), INSIGHT_DAYS)?;
    let [now, before] = call.engine.insights.quality_now_and_before(query.clone()).await?;
    let found = call.engine.insights.failure_report(query.clone()).await?;
    let trend = |figure: &Figure| {
        let body = ImprovementBody::new(*figure, figure.compute(&now), figure.compute(&before));
        (figure.as_word(), body)
    };
    Ok(Json(InsightsBody {
        tenant: query.tenant.to_string(),
        start: query.window.start.to_string(),
        end: query.window.end.to_string(),
        overall_satisfaction: Figure::Satisfaction.compute(&now).into(),
        accuracy_rate: Figure::AccuracyRate.compute(&now).into(),
        top_failure_patterns: found
            .patterns
            .iter()
            .take(MAX_INSIGHT_PATTERNS)
            .map(PatternBody::from)
            .collect(),
        improvement_trend: Figure::ALL_FIGURES.iter().map(trend).collect(),
        most_corrected_queries: found.most_corrected.iter().map(Into::into).collect(),
        comment_sentiment: (&now).into(),
    }))
}

#[utoipa::path(post, path = "/api/v1/prompts/suggestions", tag = "learning",
    summary = "Suggest prompt instructions from corrections and complaints that agree",
    request_body(content = SuggestionsRequest, example = json!({"window_days": 7})),
    responses((status = 200, description = "Suggestions in the order of their patterns", body = SuggestionsBody)))]
pub(crate) async fn suggest_prompts(
    call: ReadCall,
    payload: Payload,
) -> ApiResult<SuggestionsBody> {
    let request: SuggestionsRequest = body::decode_fields(body::parse_json_or_empty(&payload)?)?;
    let mut parameters = Vec::new();
    if let Some(days) = request.window_days {
        params::check_range("window_days", days, 1..=3650)?;
        parameters.push(("period_days".to_owned(), days.to_string()));
    }
    parameters.extend(request.prompt_id.map(|prompt| ("prompt".to_owned(), prompt)));
    let scope = call.resolve_tenant(request.tenant_id.as_deref())?;
    let mut query = report_filter::parse_filter(
        &call,
        scope.tenant.as_str(),
        Ok(Query(parameters)),
        call.engine.now(),
        FAILURE_DAYS,
    )?;
    // Suggestions are stored in the project they are derived from.
    query.project = Some(scope.project.clone());
    let kept = call.engine.insights.suggest(&scope, query).await?;
    Ok(Json(SuggestionsBody { suggestions: kept.into_iter().map(SuggestionBody::from).collect() }))
}

#[utoipa::path(post, path = "/api/v1/prompts/suggestions/{suggestion_id}/experiment", tag = "learning",
    summary = "Define an experiment that tests a suggestion; name, unit, metric, guardrails and rollout are optional",
    params(("suggestion_id" = String, Path)),
    request_body(content = Object, example = json!({"metric": "satisfaction"})),
    responses((status = 201, description = "The experiment, in DRAFT; start it when the application is ready", body = ExperimentBody), (status = 200, description = "Already defined by an earlier request; nothing changed", body = ExperimentBody)))]
pub(crate) async fn create_suggestion_experiment(
    call: AdminCall,
    id: PathParam,
    payload: Payload,
) -> StoredResult<ExperimentBody> {
    let id = params::read_id("suggestion_id", id, EventId::new)?;
    let fields = body::parse_json_or_empty(&payload)?;
    let mark = read_mark(&call.engine, &payload, MAC_DOMAIN, &[id.as_str()], &fields)?;
    let wishes = body::require_object(fields)?;
    let own = ["name", "unit", "metric", "by", "guardrails", "rollout", "adaptive", "alpha"];
    if let Some(other) = wishes.keys().find(|name| !own.contains(&name.as_str())) {
        let detail = format!("{other}: unknown field, expected {}", own.join(", "));
        return Err(Problem::invalid(other.clone(), detail));
    }
    let tried = call.engine.insights.try_suggestion(call.scope(), &id, wishes, mark.mac, mark.key);
    let (view, replayed) = tried.await.map_err(name_missing(&id))?;
    Ok((stored_status(replayed), Json(view.into())))
}
