//! What goes wrong, and what might help.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use engine::Engine;
use model::EventId;
use report::Figure;
use serde_json::Value;

use super::feedback::request_key;
use crate::address::{self, Parameters, Parts};
use crate::auth::{Managing, May, Reading};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::slice;
use crate::wire::experiment::ExperimentBody;
use crate::wire::failure::{
    FailuresBody, ImprovementBody, InsightsBody, PatternBody, SuggestionBody, SuggestionsBody,
    SuggestionsRequest,
};

const DOOR: &str = "suggestion experiment";
const FAILURE_DAYS: u32 = 7;
const INSIGHT_DAYS: u32 = 30;
/// Patterns among the insights.
const TOP: usize = 5;

/// `GET /api/v1/failures`
#[utoipa::path(
    get,
    path = "/api/v1/failures",
    tag = "learning",
    summary = "Turns that went wrong in the same way, with examples, trends and what is over-represented",
    params(("project" = Option<String>, Query), ("model" = Option<String>, Query), ("prompt" = Option<String>, Query), ("user_id" = Option<String>, Query), ("period_days" = Option<u16>, Query), ("start" = Option<String>, Query), ("end" = Option<String>, Query)),
    responses((status = 200, description = "Patterns, largest first", body = FailuresBody))
)]
pub(crate) async fn failures(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parameters: Parameters,
) -> Result<Json<FailuresBody>, Problem> {
    let tenant = scope.get().tenant.to_string();
    let query = slice::read(&scope, &tenant, parameters, engine.now(), FAILURE_DAYS)?;
    Ok(Json((&*engine.insights.failure_report(query).await?).into()))
}

/// `GET /api/v1/feedback/insights/{tenant}`
#[utoipa::path(
    get,
    path = "/api/v1/feedback/insights/{tenant}",
    tag = "quality",
    summary = "How content people are, what goes wrong most, and whether it gets better",
    params(("tenant" = String, Path), ("project" = Option<String>, Query), ("model" = Option<String>, Query), ("prompt" = Option<String>, Query), ("user_id" = Option<String>, Query), ("period_days" = Option<u16>, Query), ("start" = Option<String>, Query), ("end" = Option<String>, Query)),
    responses((status = 200, description = "Insights", body = InsightsBody))
)]
pub(crate) async fn insights(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    tenant: Parts<String>,
    parameters: Parameters,
) -> Result<Json<InsightsBody>, Problem> {
    let tenant = address::parts(tenant)?;
    let query = slice::read(&scope, &tenant, parameters, engine.now(), INSIGHT_DAYS)?;
    let [now, before] = engine.insights.quality_now_and_before(query.clone()).await?;
    let found = engine.insights.failure_report(query.clone()).await?;
    let trend = |figure: &Figure| {
        let body = ImprovementBody::of(*figure, figure.compute(&now), figure.compute(&before));
        (figure.as_word(), body)
    };
    Ok(Json(InsightsBody {
        tenant: query.tenant.to_string(),
        start: query.window.start.to_string(),
        end: query.window.end.to_string(),
        overall_satisfaction: Figure::Satisfaction.compute(&now).into(),
        accuracy_rate: Figure::AccuracyRate.compute(&now).into(),
        top_failure_patterns: found.patterns.iter().take(TOP).map(PatternBody::from).collect(),
        improvement_trend: Figure::ALL.iter().map(trend).collect(),
        most_corrected_queries: found.most_corrected.iter().map(Into::into).collect(),
        comment_sentiment: (&now).into(),
    }))
}

/// `POST /api/v1/prompts/suggestions`
#[utoipa::path(
    post,
    path = "/api/v1/prompts/suggestions",
    tag = "learning",
    summary = "Instructions that might help, out of corrections and complaints that agree",
    request_body(content = SuggestionsRequest, example = json!({"window_days": 7})),
    responses((status = 200, description = "In the order of their patterns", body = SuggestionsBody))
)]
pub(crate) async fn suggest(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    sent: Sent,
) -> Result<Json<SuggestionsBody>, Problem> {
    let request: SuggestionsRequest = body::shape(body::json_or_empty(&sent)?)?;
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
    let mut query =
        slice::read(&scope, &tenant, Ok(Query(parameters)), engine.now(), FAILURE_DAYS)?;
    // What is concluded is kept in the project it is concluded from.
    query.project = Some(scope.get().project.clone());
    let kept = engine.insights.suggest(scope.get(), query).await?;
    Ok(Json(SuggestionsBody { suggestions: kept.into_iter().map(SuggestionBody::from).collect() }))
}

/// `POST /api/v1/prompts/suggestions/{id}/experiment`
#[utoipa::path(
    post,
    path = "/api/v1/prompts/suggestions/{suggestion_id}/experiment",
    tag = "learning",
    summary = "Define an experiment that tries a suggestion; unit, metric, guardrails, rollout and name may be given",
    params(("suggestion_id" = String, Path)),
    request_body(content = Object, example = json!({"metric": "satisfaction"})),
    responses((status = 201, description = "Defined; start it when the application is ready", body = ExperimentBody), (status = 200, description = "Defined before; nothing changed", body = ExperimentBody))
)]
pub(crate) async fn experiment(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    id: Parts<String>,
    sent: Sent,
) -> Result<(StatusCode, Json<ExperimentBody>), Problem> {
    let id = address::id("suggestion_id", address::parts(id)?, EventId::new)?;
    let fields = body::json_or_empty(&sent)?;
    let key = request_key(&engine, &sent.headers, DOOR, &[id.as_str()], &fields)?;
    let mac = engine.fingerprint(DOOR, &fields);
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
    let status = if replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(view.into())))
}
