//! Routers: which model serves the next query, learnt from how earlier ones went.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::{Engine, Policy, RouteRequest, RouterDefinition};
use model::{ConversationId, GivenReward, TurnId, UnitInterval, UserId};
use serde_json::{Value, json};

use super::feedback::request_key;
use crate::address::{self, Parts};
use crate::auth::{Managing, May, Reading, Writing};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::wire::routing::{
    EvaluateRequest, PolicyRequest, RewardRequest, RouteBody, RouteRequestBody, RouterBody,
    RouterRequest, evaluation_json,
};

const REWARD_DOOR: &str = "reward";

/// `GET /api/v1/routers`
#[utoipa::path(
    get,
    path = "/api/v1/routers",
    tag = "routing",
    summary = "The project's routers",
    responses((status = 200, description = "All of them", body = Object))
)]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
) -> Result<Json<Value>, Problem> {
    let mut routers = Vec::new();
    for name in engine.routing.list_router_names(scope.get()) {
        routers
            .push(json!(RouterBody::from(engine.routing.load_router(scope.get(), &name).await?)));
    }
    Ok(Json(json!({"routers": routers})))
}

/// `PUT /api/v1/routers/{name}`
#[utoipa::path(
    put,
    path = "/api/v1/routers/{name}",
    tag = "routing",
    summary = "Set a router: its arms, how they are chosen, what a turn is worth",
    params(("name" = String, Path)),
    request_body(content = RouterRequest, example = json!({"arms": [{"id": "gpt-4o-mini"}, {"id": "gpt-4o"}]})),
    responses((status = 200, description = "As it is now; what arms have learnt stays", body = RouterBody))
)]
pub(crate) async fn set(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    name: Parts<String>,
    sent: Sent,
) -> Result<Json<RouterBody>, Problem> {
    let definition: RouterDefinition = body::shape(body::json(&sent)?)?;
    let name = address::parts(name)?;
    Ok(Json(engine.routing.set_router(scope.get(), &name, definition).await?.into()))
}

/// `GET /api/v1/routers/{name}`
#[utoipa::path(
    get,
    path = "/api/v1/routers/{name}",
    tag = "routing",
    summary = "What a router has learnt: posteriors, shares, rewards and the recent trend",
    params(("name" = String, Path)),
    responses((status = 200, description = "The router", body = RouterBody))
)]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    name: Parts<String>,
) -> Result<Json<RouterBody>, Problem> {
    Ok(Json(engine.routing.load_router(scope.get(), &address::parts(name)?).await?.into()))
}

/// `POST /api/v1/routers/{name}/reset`
#[utoipa::path(
    post,
    path = "/api/v1/routers/{name}/reset",
    tag = "routing",
    summary = "A router forgets what it has learnt",
    params(("name" = String, Path)),
    responses((status = 200, description = "As it is now", body = RouterBody))
)]
pub(crate) async fn reset(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    name: Parts<String>,
) -> Result<Json<RouterBody>, Problem> {
    Ok(Json(engine.routing.reset_router(scope.get(), &address::parts(name)?).await?.into()))
}

/// `POST /api/v1/route`
#[utoipa::path(
    post,
    path = "/api/v1/route",
    tag = "routing",
    summary = "Which arm serves this request",
    request_body(content = RouteRequestBody, example = json!({"router": "chat", "text": "Laptops under $1000?", "turn_id": "t1"})),
    responses((status = 200, description = "The choice; give its decision_id back with the completed turn", body = RouteBody))
)]
pub(crate) async fn route(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<Json<RouteBody>, Problem> {
    let request: RouteRequestBody = body::shape(body::json(&sent)?)?;
    let request = read_route(request)?;
    Ok(Json(engine.routing.choose_route(scope.get(), &request)?.into()))
}

fn read_route(request: RouteRequestBody) -> Result<RouteRequest, Problem> {
    let text = request.text.unwrap_or_default();
    body::check_length("text", &text)?;
    if let Some(cost) = request.max_cost
        && !(cost.is_finite() && cost >= 0.0)
    {
        let detail = format!("max_cost is {cost}, expected a number not below 0");
        return Err(Problem::invalid("max_cost", detail));
    }
    let turn = request.turn_id.map(|id| address::id("turn_id", id, TurnId::new)).transpose()?;
    let conversation = request.conversation_id;
    let conversation = conversation
        .map(|id| address::id("conversation_id", id, ConversationId::new))
        .transpose()?;
    let user = request.user_id.map(|id| address::id("user_id", id, UserId::new)).transpose()?;
    Ok(RouteRequest {
        router: request.router,
        text,
        turn,
        conversation,
        user,
        exclude: request.exclude.unwrap_or_default(),
        max_cost: request.max_cost,
    })
}

/// `POST /api/v1/rewards`
#[utoipa::path(
    post,
    path = "/api/v1/rewards",
    tag = "routing",
    summary = "What an answer was worth, said outright",
    request_body(content = RewardRequest, example = json!({"turn_id": "t1", "quality_score": 0.95, "user_rating": 5, "met_expectations": true})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Stored before; nothing changed", body = Object))
)]
pub(crate) async fn reward(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let fields = body::json(&sent)?;
    let key = request_key(&engine, &sent.headers, REWARD_DOOR, &[], &fields)?;
    let mac = engine.fingerprint(REWARD_DOOR, &fields);
    let request: RewardRequest = body::shape(fields)?;
    let turn = address::id("turn_id", request.turn_id.clone(), TurnId::new)?;
    let user = request.user_id.clone().map(|id| address::id("user_id", id, UserId::new));
    let given = read_reward(&request)?;
    let receipt =
        engine.routing.record_reward(scope.get(), turn, user.transpose()?, given, mac, key).await?;
    let status = if receipt.replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(json!({"id": receipt.id.as_str(), "replayed": receipt.replayed}))))
}

fn read_reward(request: &RewardRequest) -> Result<GivenReward, Problem> {
    let quality_score = match request.quality_score {
        None => None,
        Some(score) => Some(UnitInterval::new(score).ok_or_else(|| {
            let detail = format!("quality_score is {score}, expected 0 to 1");
            Problem::invalid("quality_score", detail)
        })?),
    };
    let user_rating = match request.user_rating {
        None => None,
        Some(rating) if (1.0..=5.0).contains(&rating) && rating.fract() == 0.0 => {
            Some(rating as u8)
        }
        Some(rating) => {
            let detail = format!("user_rating is {rating}, expected a whole number from 1 to 5");
            return Err(Problem::invalid("user_rating", detail));
        }
    };
    let met_expectations = request.met_expectations;
    if quality_score.is_none() && user_rating.is_none() && met_expectations.is_none() {
        let detail = "nothing is said; expected quality_score, user_rating or met_expectations";
        return Err(Problem::invalid("body", detail));
    }
    Ok(GivenReward { quality_score, user_rating, met_expectations })
}

/// `POST /api/v1/policies/evaluate`
#[utoipa::path(
    post,
    path = "/api/v1/policies/evaluate",
    tag = "routing",
    summary = "What another policy would have earned, by the choices that were made",
    request_body(content = EvaluateRequest, example = json!({"router": "chat", "policy": {"kind": "fixed", "arm": "gpt-4o"}})),
    responses((status = 200, description = "Estimates with intervals of 95%", body = Object))
)]
pub(crate) async fn evaluate(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    sent: Sent,
) -> Result<Json<Value>, Problem> {
    let request: EvaluateRequest = body::shape(body::json(&sent)?)?;
    let since = match request.since.as_deref() {
        None => None,
        Some(text) => Some(model::Timestamp::parse(text).map_err(|_| {
            let detail = format!("since is {text:?}, expected a time such as 2026-01-31T00:00:00Z");
            Problem::invalid("since", detail)
        })?),
    };
    let policy = match request.policy {
        PolicyRequest::Fixed { arm } => Policy::Fixed(arm),
        PolicyRequest::Random => Policy::Random,
        PolicyRequest::Weights { weights } => Policy::Weights(weights),
    };
    let found =
        engine.routing.evaluate_policy(scope.get(), &request.router, &policy, since).await?;
    Ok(Json(evaluation_json(&found)))
}
