//! Routers, which learn the model that serves a request best.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::{Engine, Policy, RouteRequest, RouterDefinition};
use model::{ConversationId, GivenReward, TurnId, UnitInterval, UserId};
use serde_json::{Value, json};

use super::feedback::read_request_key;
use super::stored_status;
use crate::body::{self, Payload};
use crate::error::{Problem, quote};
use crate::middleware::auth::{AdminAccess, Authorized, ReadAccess, WriteAccess};
use crate::params::{self, PathParams};
use crate::wire::routing::{
    EvaluateRequest, PolicyRequest, RewardRequest, RouteBody, RouteRequestBody, RouterBody,
    RouterRequest, evaluation_json,
};

const REWARD_MAC_DOMAIN: &str = "reward";

#[utoipa::path(get, path = "/api/v1/routers", tag = "routing",
    summary = "List the routers of the project",
    responses((status = 200, description = "All routers with their state", body = Object)))]
pub(crate) async fn list_routers(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
) -> Result<Json<Value>, Problem> {
    let mut routers = Vec::new();
    for name in engine.routing.list_router_names(scope.get()) {
        routers
            .push(json!(RouterBody::from(engine.routing.load_router(scope.get(), &name).await?)));
    }
    Ok(Json(json!({"routers": routers})))
}

#[utoipa::path(put, path = "/api/v1/routers/{name}", tag = "routing",
    summary = "Create or replace a router: arms, algorithm and reward",
    params(("name" = String, Path)),
    request_body(content = RouterRequest, example = json!({"arms": [{"id": "gpt-4o-mini"}, {"id": "gpt-4o"}]})),
    responses((status = 200, description = "The router; what its arms have learned is kept", body = RouterBody)))]
pub(crate) async fn set_router(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<AdminAccess>,
    name: PathParams<String>,
    payload: Payload,
) -> Result<Json<RouterBody>, Problem> {
    let definition: RouterDefinition = body::decode_json(&payload)?;
    let name = params::read_path(name)?;
    Ok(Json(engine.routing.set_router(scope.get(), &name, definition).await?.into()))
}

#[utoipa::path(get, path = "/api/v1/routers/{name}", tag = "routing",
    summary = "Show a router: posteriors, shares, rewards and the recent trend",
    params(("name" = String, Path)),
    responses((status = 200, description = "The router", body = RouterBody)))]
pub(crate) async fn show_router(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    name: PathParams<String>,
) -> Result<Json<RouterBody>, Problem> {
    Ok(Json(engine.routing.load_router(scope.get(), &params::read_path(name)?).await?.into()))
}

#[utoipa::path(post, path = "/api/v1/routers/{name}/reset", tag = "routing",
    summary = "Reset what a router has learned",
    params(("name" = String, Path)),
    responses((status = 200, description = "The router after the reset", body = RouterBody)))]
pub(crate) async fn reset_router(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<AdminAccess>,
    name: PathParams<String>,
) -> Result<Json<RouterBody>, Problem> {
    Ok(Json(engine.routing.reset_router(scope.get(), &params::read_path(name)?).await?.into()))
}

#[utoipa::path(post, path = "/api/v1/route", tag = "routing",
    summary = "Choose the arm that serves a request",
    request_body(content = RouteRequestBody, example = json!({"router": "chat", "text": "Laptops under $1000?", "turn_id": "t1"})),
    responses((status = 200, description = "The choice; send its decision_id with the completed turn", body = RouteBody)))]
pub(crate) async fn choose_route(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    payload: Payload,
) -> Result<Json<RouteBody>, Problem> {
    let request: RouteRequestBody = body::decode_json(&payload)?;
    let request = parse_route_request(request)?;
    Ok(Json(engine.routing.choose_route(scope.get(), &request)?.into()))
}

fn parse_route_request(request: RouteRequestBody) -> Result<RouteRequest, Problem> {
    let text = request.text.unwrap_or_default();
    body::check_length("text", &text)?;
    if let Some(cost) = request.max_cost
        && !(cost.is_finite() && cost >= 0.0)
    {
        let detail = format!("max_cost is {cost}, expected a number not below 0");
        return Err(Problem::invalid("max_cost", detail));
    }
    let turn = params::parse_optional_id("turn_id", request.turn_id, TurnId::new)?;
    let conversation =
        params::parse_optional_id("conversation_id", request.conversation_id, ConversationId::new)?;
    let user = params::parse_optional_id("user_id", request.user_id, UserId::new)?;
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

#[utoipa::path(post, path = "/api/v1/rewards", tag = "routing",
    summary = "Record an explicit reward for a turn",
    request_body(content = RewardRequest, example = json!({"turn_id": "t1", "quality_score": 0.95, "user_rating": 5, "met_expectations": true})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Already stored by an earlier request; nothing changed", body = Object)))]
pub(crate) async fn submit_reward(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    payload: Payload,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let fields = body::parse_json(&payload)?;
    let key = read_request_key(&engine, &payload.headers, REWARD_MAC_DOMAIN, &[], &fields)?;
    let mac = engine.fingerprint(REWARD_MAC_DOMAIN, &fields);
    let request: RewardRequest = body::decode_fields(fields)?;
    let turn = params::parse_id("turn_id", request.turn_id.clone(), TurnId::new)?;
    let user = request.user_id.clone().map(|id| params::parse_id("user_id", id, UserId::new));
    let given = parse_reward(&request)?;
    let receipt =
        engine.routing.record_reward(scope.get(), turn, user.transpose()?, given, mac, key).await?;
    Ok((
        stored_status(receipt.replayed),
        Json(json!({"id": receipt.id.as_str(), "replayed": receipt.replayed})),
    ))
}

fn parse_reward(request: &RewardRequest) -> Result<GivenReward, Problem> {
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
        let detail =
            "the body has no reward, expected quality_score, user_rating or met_expectations";
        return Err(Problem::invalid("body", detail));
    }
    Ok(GivenReward { quality_score, user_rating, met_expectations })
}

#[utoipa::path(post, path = "/api/v1/policies/evaluate", tag = "routing",
    summary = "Estimate the reward of another policy from logged choices",
    request_body(content = EvaluateRequest, example = json!({"router": "chat", "policy": {"kind": "fixed", "arm": "gpt-4o"}})),
    responses((status = 200, description = "Estimates with 95% confidence intervals", body = Object)))]
pub(crate) async fn evaluate_policy(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    payload: Payload,
) -> Result<Json<Value>, Problem> {
    let request: EvaluateRequest = body::decode_json(&payload)?;
    let since = match request.since.as_deref() {
        None => None,
        Some(text) => Some(model::Timestamp::parse(text).map_err(|_| {
            let detail =
                format!("since is {}, expected a time such as 2026-01-31T00:00:00Z", quote(text));
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
