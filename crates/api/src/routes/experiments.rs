//! Experiments: which variant is better, and how far it is rolled out.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::Engine;
use engine::experiment::{Action, ExperimentDefinition};
use model::ExperimentId;
use serde::Deserialize;
use serde_json::Value;

use super::feedback::request_key;
use crate::address::{self, Parameters, Parts};
use crate::auth::{Managing, May, Reading, Writing};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::wire::experiment::{
    AssignRequest, AssignedBody, ExperimentBody, ExperimentRequest, ExperimentsBody, ResultsBody,
};

const DOOR: &str = "experiment";
const ACTION_DOOR: &str = "experiment action";
const MAX_LIMIT: usize = 500;

/// `POST /api/v1/experiments`
#[utoipa::path(
    post,
    path = "/api/v1/experiments",
    tag = "experiments",
    summary = "Define an experiment; start it when the application is ready",
    request_body(content = ExperimentRequest, example = json!({"id": "greeting", "name": "A warmer greeting", "unit": "user", "variants": [{"name": "control", "weight": 1, "payload": {"prompt": "greet@3"}}, {"name": "treatment", "weight": 1, "payload": {"prompt": "greet@4"}}], "metric": "satisfaction", "guardrails": [{"metric": "error_rate", "limit": 0.05}], "rollout": {"steps": [1, 5, 25, 50, 100], "margin": 0.01}})),
    responses((status = 201, description = "Defined; it stands at DRAFT", body = ExperimentBody), (status = 200, description = "Defined before; nothing changed", body = ExperimentBody))
)]
pub(crate) async fn create(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    sent: Sent,
) -> Result<(StatusCode, Json<ExperimentBody>), Problem> {
    let mut fields = body::json(&sent)?;
    let key = request_key(&engine, &sent.headers, DOOR, &[], &fields)?;
    let mac = engine.fingerprint(DOOR, &fields);
    let id = fields.as_object_mut().and_then(|fields| fields.remove("id"));
    let id = match id {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(address::id("id", text, ExperimentId::new)?),
        Some(_) => return Err(Problem::invalid("id", "id is no text, expected one or nothing")),
    };
    let definition: ExperimentDefinition = body::shape(fields)?;
    let (view, replayed) =
        engine.experiments.create_experiment(scope.get(), id, &definition, mac, key).await?;
    let status = if replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(view.into())))
}

/// `GET /api/v1/experiments`
#[utoipa::path(
    get,
    path = "/api/v1/experiments",
    tag = "experiments",
    summary = "The project's experiments, in the order in which they were defined",
    params(("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A page; next leads to the one behind it", body = ExperimentsBody))
)]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parameters: Parameters,
) -> Result<Json<ExperimentsBody>, Problem> {
    let (after, limit) = address::page(parameters, MAX_LIMIT)?;
    let found = engine.experiments.list_experiments(scope.get(), after, limit).await?;
    let next = found.last().map_or(after, |last| last.position).0;
    let experiments = found.into_iter().map(ExperimentBody::from).collect();
    Ok(Json(ExperimentsBody { experiments, next }))
}

/// `GET /api/v1/experiments/{id}`
#[utoipa::path(
    get,
    path = "/api/v1/experiments/{id}",
    tag = "experiments",
    summary = "An experiment as it stands: shares, moves with their evidence, what is possible",
    params(("id" = String, Path)),
    responses((status = 200, description = "The experiment", body = ExperimentBody))
)]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    id: Parts<String>,
) -> Result<Json<ExperimentBody>, Problem> {
    let id = address::id("id", address::parts(id)?, ExperimentId::new)?;
    Ok(Json(engine.experiments.load_experiment(scope.get(), &id).await?.into()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

/// `POST /api/v1/experiments/{id}/{start|pause|resume|complete|archive}`
#[utoipa::path(
    post,
    path = "/api/v1/experiments/{id}/{action}",
    tag = "experiments",
    summary = "Start, pause, resume, complete or archive an experiment",
    params(("id" = String, Path), ("action" = String, Path, description = "start, pause, resume, complete or archive")),
    request_body(content = Object, example = json!({})),
    responses((status = 200, description = "As it stands now", body = ExperimentBody))
)]
pub(crate) async fn act(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    parts: Parts<(String, String)>,
    sent: Sent,
) -> Result<Json<ExperimentBody>, Problem> {
    let (id, word) = address::parts(parts)?;
    let id = address::id("id", id, ExperimentId::new)?;
    let Some(action) = Action::from_word(&word) else {
        let words = Action::ALL.map(Action::word).join(", ");
        return Err(Problem::not_found(format!("there is nothing here, expected one of {words}")));
    };
    let fields = body::json_or_empty(&sent)?;
    let door = [id.as_str(), action.word()];
    let key = request_key(&engine, &sent.headers, ACTION_DOOR, &door, &fields)?;
    let NoFields {} = body::shape(fields)?;
    Ok(Json(engine.experiments.apply_action(scope.get(), &id, action, key).await?.into()))
}

/// `POST /api/v1/experiments/{id}/assign`
#[utoipa::path(
    post,
    path = "/api/v1/experiments/{id}/assign",
    tag = "experiments",
    summary = "Which variant a user or conversation gets",
    params(("id" = String, Path)),
    request_body(content = AssignRequest, example = json!({"unit_id": "ann"})),
    responses((status = 200, description = "The variant; its exposure is in the log", body = AssignedBody))
)]
pub(crate) async fn assign(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    id: Parts<String>,
    sent: Sent,
) -> Result<Json<AssignedBody>, Problem> {
    let id = address::id("id", address::parts(id)?, ExperimentId::new)?;
    let request: AssignRequest = body::shape(body::json(&sent)?)?;
    let found = engine.experiments.assign(scope.get(), &id, &request.unit_id).await?;
    Ok(Json(AssignedBody {
        variant: found.variant,
        payload: found.payload,
        experiment_id: id.to_string(),
    }))
}

/// `GET /api/v1/experiments/{id}/results`
#[utoipa::path(
    get,
    path = "/api/v1/experiments/{id}/results",
    tag = "experiments",
    summary = "What an experiment says so far; look as often as you like",
    params(("id" = String, Path)),
    responses((status = 200, description = "Means, differences with intervals that hold at every look, guardrails, verdict", body = ResultsBody))
)]
pub(crate) async fn results(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    id: Parts<String>,
) -> Result<Json<ResultsBody>, Problem> {
    let id = address::id("id", address::parts(id)?, ExperimentId::new)?;
    let (view, found) = engine.experiments.experiment_results(scope.get(), &id).await?;
    Ok(Json(ResultsBody::new(&view, found)))
}
