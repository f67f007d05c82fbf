//! Routers, which learn the model that serves a request best.

use axum::Json;
use engine::{Policy, RequestMark, RouteRequest, RouterDefinition};
use model::{ConversationId, GivenReward, Timestamp, TurnId, UnitInterval, UserId};
use serde_json::{Value, json};

use super::{ReceiptResult, read_mark, receipt_response};
use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem, name_missing, quote};
use crate::middleware::auth::{AdminCall, ReadCall, WriteCall};
use crate::params::{self, PathParam};
use crate::wire::routing::{
    EvaluateRequest, PolicyRequest, RewardRequest, RouteBody, RouteRequestBody, RouterBody,
    RouterRequest, evaluation_json,
};
use crate::wire::time::TimeInput;

const REWARD_MAC_DOMAIN: &str = "reward";

#[utoipa::path(get, path = "/api/v1/routers", tag = "routing",
    summary = "List the routers of the project",
    responses((status = 200, description = "All routers with their state", body = Object)))]
pub(crate) async fn list_routers(call: ReadCall) -> ApiResult<Value> {
    let mut routers = Vec::new();
    for name in call.engine.routing.list_router_names(call.scope()) {
        let view = call.engine.routing.load_router(call.scope(), &name).await?;
        routers.push(json!(RouterBody::from(view)));
    }
    Ok(Json(json!({"routers": routers})))
}

#[utoipa::path(put, path = "/api/v1/routers/{name}", tag = "routing",
    summary = "Create or replace a router: arms, algorithm and reward",
    params(("name" = String, Path)),
    request_body(content = RouterRequest, example = json!({"arms": [{"id": "gpt-4o-mini"}, {"id": "gpt-4o"}]})),
    responses((status = 200, description = "The router; what its arms have learned is kept", body = RouterBody)))]
pub(crate) async fn set_router(
    call: AdminCall,
    name: PathParam,
    payload: Payload,
) -> ApiResult<RouterBody> {
    let definition: RouterDefinition = body::decode_json(&payload)?;
    let name = params::read_path(name)?;
    Ok(Json(call.engine.routing.set_router(call.scope(), &name, definition).await?.into()))
}

#[utoipa::path(get, path = "/api/v1/routers/{name}", tag = "routing",
    summary = "Show a router: posteriors, shares, rewards and the recent trend",
    params(("name" = String, Path)),
    responses((status = 200, description = "The router", body = RouterBody)))]
pub(crate) async fn show_router(call: ReadCall, name: PathParam) -> ApiResult<RouterBody> {
    let name = params::read_path(name)?;
    Ok(Json(
        call.engine
            .routing
            .load_router(call.scope(), &name)
            .await
            .map_err(name_missing(&name))?
            .into(),
    ))
}

#[utoipa::path(post, path = "/api/v1/routers/{name}/reset", tag = "routing",
    summary = "Reset what a router has learned",
    params(("name" = String, Path)),
    responses((status = 200, description = "The router after the reset", body = RouterBody)))]
pub(crate) async fn reset_router(call: AdminCall, name: PathParam) -> ApiResult<RouterBody> {
    let name = params::read_path(name)?;
    Ok(Json(
        call.engine
            .routing
            .reset_router(call.scope(), &name)
            .await
            .map_err(name_missing(&name))?
            .into(),
    ))
}

#[utoipa::path(post, path = "/api/v1/route", tag = "routing",
    summary = "Choose the arm that serves a request",
    request_body(content = RouteRequestBody, example = json!({"router": "chat", "text": "Laptops under $1000?", "turn_id": "t1"})),
    responses((status = 200, description = "The choice; send its decision_id with the completed turn", body = RouteBody)))]
pub(crate) async fn choose_route(call: WriteCall, payload: Payload) -> ApiResult<RouteBody> {
    let request: RouteRequestBody = body::decode_json(&payload)?;
    let request = parse_route_request(request)?;
    let route = call.engine.routing.choose_route(call.scope(), &request);
    Ok(Json(route.map_err(name_missing(&request.router))?.into()))
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
    summary = "Record an explicit reward for a turn, also before the turn",
    request_body(content = RewardRequest, example = json!({"turn_id": "t1", "quality_score": 0.95, "user_rating": 5, "met_expectations": true})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Already stored by an earlier request; nothing changed", body = Object), (status = 202, description = "Stored; `pending` is true because the turn is not stored yet", body = Object)))]
pub(crate) async fn submit_reward(call: WriteCall, payload: Payload) -> ReceiptResult {
    let fields = body::parse_request::<RewardRequest>(&payload)?;
    let mark = read_mark(&call.engine, &payload, REWARD_MAC_DOMAIN, &[], &fields)?;
    let request: RewardRequest = body::decode_fields(fields)?;
    let turn = params::parse_id("turn_id", request.turn_id.clone(), TurnId::new)?;
    let user = params::parse_optional_id("user_id", request.user_id.clone(), UserId::new)?;
    let (given, RequestMark { mac, key }) = (parse_reward(&request)?, mark);
    let (receipt, warnings) =
        call.engine.routing.record_reward(call.scope(), turn, user, given, mac, key).await?;
    let (status, Json(response)) = receipt_response(receipt);
    Ok((status, Json(response.with_warnings(warnings))))
}

fn parse_reward(request: &RewardRequest) -> Result<GivenReward, Problem> {
    let score = |score: f64| params::check_range("quality_score", score, 0.0..=1.0);
    let quality_score = request.quality_score.map(score).transpose()?.and_then(UnitInterval::new);
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
pub(crate) async fn evaluate_policy(call: ReadCall, payload: Payload) -> ApiResult<Value> {
    let request: EvaluateRequest = body::decode_json(&payload)?;
    let parse_since = |text: &str| {
        let expected = "expected a time such as 2026-01-31T00:00:00Z";
        let bad = |_| Problem::invalid("since", format!("since is {}, {expected}", quote(text)));
        Timestamp::parse(text).map_err(bad)
    };
    let since = request.since.map(TimeInput::into_text);
    let since = since.as_deref().map(parse_since).transpose()?;
    let policy = match request.policy {
        PolicyRequest::Fixed { arm } => Policy::Fixed(arm),
        PolicyRequest::Random => Policy::Random,
        PolicyRequest::Weights { weights } => Policy::Weights(weights),
    };
    let router = &request.router;
    let found = call.engine.routing.evaluate_policy(call.scope(), router, &policy, since).await;
    let found = found.map_err(name_missing(router))?;
    Ok(Json(evaluation_json(&found)))
}
