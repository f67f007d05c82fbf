//! A/B tests: definition, lifecycle, assignment and results.

use axum::Json;
use engine::experiment::{ExperimentDefinition, LifecycleAction};
use model::ExperimentId;
use serde::Deserialize;
use serde_json::Value;

use super::{StoredResult, read_mark, read_request_key, stored_status};
use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem, name_missing, quote};
use crate::middleware::auth::{AdminCall, ReadCall, WriteCall};
use crate::params::{self, PathParam, PathParams, QueryParams};
use crate::wire::experiment::{
    AssignRequest, AssignedBody, ExperimentBody, ExperimentRequest, ExperimentsBody, ResultsBody,
};

const MAC_DOMAIN: &str = "experiment";
const ACTION_MAC_DOMAIN: &str = "experiment action";
const MAX_LIMIT: usize = 500;

#[utoipa::path(post, path = "/api/v1/experiments", tag = "experiments",
    summary = "Define an experiment; start it when the application is ready",
    request_body(content = ExperimentRequest, example = json!({"id": "greeting", "name": "A warmer greeting", "unit": "user", "variants": [{"name": "control", "weight": 1, "payload": {"prompt": "greet@3"}}, {"name": "treatment", "weight": 1, "payload": {"prompt": "greet@4"}}], "metric": "satisfaction", "guardrails": [{"metric": "error_rate", "limit": 0.05}], "rollout": {"steps": [1, 5, 25, 50, 100], "margin": 0.01}})),
    responses((status = 201, description = "The experiment, in DRAFT", body = ExperimentBody), (status = 200, description = "Already defined by an earlier request; nothing changed", body = ExperimentBody)))]
pub(crate) async fn create_experiment(
    call: AdminCall,
    payload: Payload,
) -> StoredResult<ExperimentBody> {
    let mut fields = body::parse_json(&payload)?;
    let mark = read_mark(&call.engine, &payload, MAC_DOMAIN, &[], &fields)?;
    let id = fields.as_object_mut().and_then(|fields| fields.remove("id"));
    let id = match id {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(params::parse_id("id", text, ExperimentId::new)?),
        Some(_) => {
            return Err(Problem::invalid("id", "id is not a string, expected a string or null"));
        }
    };
    let definition: ExperimentDefinition = body::decode_fields(fields)?;
    let (view, replayed) = call
        .engine
        .experiments
        .create_experiment(call.scope(), id, &definition, mark.mac, mark.key)
        .await?;
    Ok((stored_status(replayed), Json(view.into())))
}

#[utoipa::path(get, path = "/api/v1/experiments", tag = "experiments",
    summary = "List the experiments of the project, oldest first",
    params(("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A page; `next` continues it", body = ExperimentsBody)))]
pub(crate) async fn list_experiments(
    call: ReadCall,
    query: QueryParams,
) -> ApiResult<ExperimentsBody> {
    let (after, limit) = params::read_page(query, MAX_LIMIT)?;
    let found = call.engine.experiments.list_experiments(call.scope(), after, limit).await?;
    let next = found.last().map_or(after, |last| last.position).0;
    let experiments = found.into_iter().map(ExperimentBody::from).collect();
    Ok(Json(ExperimentsBody { experiments, next }))
}

#[utoipa::path(get, path = "/api/v1/experiments/{id}", tag = "experiments",
    summary = "Show an experiment: status, shares, rollout moves with their evidence",
    params(("id" = String, Path)),
    responses((status = 200, description = "The experiment", body = ExperimentBody)))]
pub(crate) async fn show_experiment(call: ReadCall, id: PathParam) -> ApiResult<ExperimentBody> {
    let id = params::read_id("id", id, ExperimentId::new)?;
    Ok(Json(
        call.engine
            .experiments
            .load_experiment(call.scope(), &id)
            .await
            .map_err(name_missing(&id))?
            .into(),
    ))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

#[utoipa::path(post, path = "/api/v1/experiments/{id}/{action}", tag = "experiments",
    summary = "Start, pause, resume, complete or archive an experiment",
    params(("id" = String, Path), ("action" = String, Path, description = "start, pause, resume, complete or archive")),
    request_body(content = Object, example = json!({})),
    responses((status = 200, description = "The experiment after the action", body = ExperimentBody)))]
pub(crate) async fn act_on_experiment(
    call: AdminCall,
    parts: PathParams<(String, String)>,
    payload: Payload,
) -> ApiResult<ExperimentBody> {
    let (id, word) = params::read_path(parts)?;
    let id = params::parse_segment("id", id, ExperimentId::new)?;
    let Some(action) = LifecycleAction::from_word(&word) else {
        let words = LifecycleAction::ALL_ACTIONS.map(LifecycleAction::word).join(", ");
        let detail = format!("action {} not found, expected one of {words}", quote(&word));
        return Err(Problem::not_found(detail));
    };
    let fields = body::parse_json_or_empty(&payload)?;
    let address = [id.as_str(), action.word()];
    let key = read_request_key(&call.engine, &payload, ACTION_MAC_DOMAIN, &address, &fields)?;
    let NoFields {} = body::decode_fields(fields)?;
    let acted = call.engine.experiments.apply_action(call.scope(), &id, action, key).await;
    Ok(Json(acted.map_err(name_missing(&id))?.into()))
}

#[utoipa::path(post, path = "/api/v1/experiments/{id}/assign", tag = "experiments",
    summary = "Assign a variant to a user or conversation",
    params(("id" = String, Path)),
    request_body(content = AssignRequest, example = json!({"unit_id": "ann"})),
    responses((status = 200, description = "The variant; the exposure is logged", body = AssignedBody)))]
pub(crate) async fn assign_variant(
    call: WriteCall,
    id: PathParam,
    payload: Payload,
) -> ApiResult<AssignedBody> {
    let id = params::read_id("id", id, ExperimentId::new)?;
    let request: AssignRequest = body::decode_json(&payload)?;
    let found = call
        .engine
        .experiments
        .assign(call.scope(), &id, &request.unit_id)
        .await
        .map_err(name_missing(&id))?;
    Ok(Json(AssignedBody {
        variant: found.variant,
        payload: found.payload,
        experiment_id: id.to_string(),
    }))
}

#[utoipa::path(get, path = "/api/v1/experiments/{id}/results", tag = "experiments",
    summary = "Show the results so far; intervals stay valid however often they are read",
    params(("id" = String, Path)),
    responses((status = 200, description = "Means, differences with anytime-valid intervals, guardrails and verdict", body = ResultsBody)))]
pub(crate) async fn show_results(call: ReadCall, id: PathParam) -> ApiResult<ResultsBody> {
    let id = params::read_id("id", id, ExperimentId::new)?;
    let (view, found) = call
        .engine
        .experiments
        .experiment_results(call.scope(), &id)
        .await
        .map_err(name_missing(&id))?;
    Ok(Json(ResultsBody::new(&view, found)))
}
