//! Decisions of agents and their outcomes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::Engine;
use model::{ConversationId, DecisionId, Position};
use serde::Deserialize;
use serde_json::json;

use super::feedback::read_request_key;
use super::stored_status;
use crate::body::{self, Payload};
use crate::error::Problem;
use crate::middleware::auth::{Authorized, ReadAccess, WriteAccess};
use crate::params::{self, ParamKind, PathParams, QueryParams};
use crate::wire::decision::{
    DecisionBody, DecisionReceipt, DecisionRequest, DecisionsBody, OutcomeRequest,
    SessionDecisionsBody,
};

const MAC_DOMAIN: &str = "decision";
const OUTCOME_MAC_DOMAIN: &str = "outcome";
const MAX_LIMIT: usize = 500;

#[utoipa::path(post, path = "/api/v1/decisions", tag = "decisions",
    summary = "Record a decision",
    request_body(content = DecisionRequest, example = json!({"decision_id": "d1", "session_id": "c1", "decision_type": "sql_generation", "decision_data": {"tables": ["orders"]}, "confidence": 0.8})),
    responses((status = 201, description = "Stored", body = DecisionReceipt), (status = 200, description = "Already stored by an earlier request; nothing changed", body = DecisionReceipt)))]
pub(crate) async fn record_decision(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    payload: Payload,
) -> Result<(StatusCode, Json<DecisionReceipt>), Problem> {
    let value = body::parse_json(&payload)?;
    let key = read_request_key(&engine, &payload.headers, MAC_DOMAIN, &[], &value)?;
    let mac = engine.fingerprint(MAC_DOMAIN, &value);
    let request: DecisionRequest = body::decode_fields(value)?;
    let (id, replayed) = engine.feedback.decide(scope.get(), request.into(), mac, key).await?;
    Ok((stored_status(replayed), Json(DecisionReceipt { decision_id: id.to_string(), replayed })))
}

#[utoipa::path(patch, path = "/api/v1/decisions/{id}", tag = "decisions",
    summary = "Record the outcome of a decision",
    params(("id" = String, Path)),
    request_body(content = OutcomeRequest, example = json!({"outcome": "success", "outcome_data": {"needed": ["orders"]}})),
    responses((status = 200, description = "Stored; `replayed` is true when it was stored before", body = DecisionReceipt)))]
pub(crate) async fn record_outcome(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    id: PathParams<String>,
    payload: Payload,
) -> Result<Json<DecisionReceipt>, Problem> {
    let id = params::parse_id("decision_id", params::read_path(id)?, DecisionId::new)?;
    let value = body::parse_json(&payload)?;
    let key =
        read_request_key(&engine, &payload.headers, OUTCOME_MAC_DOMAIN, &[id.as_str()], &value)?;
    let mac = engine.fingerprint(OUTCOME_MAC_DOMAIN, &json!([id.as_str(), value]));
    let request: OutcomeRequest = body::decode_fields(value)?;
    let replayed = engine.feedback.settle(scope.get(), &id, request.into(), mac, key).await?;
    Ok(Json(DecisionReceipt { decision_id: id.to_string(), replayed }))
}

#[utoipa::path(get, path = "/api/v1/decisions/{id}", tag = "decisions",
    summary = "Show a decision and its latest outcome",
    params(("id" = String, Path)),
    responses((status = 200, description = "The decision", body = DecisionBody)))]
pub(crate) async fn show_decision(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    id: PathParams<String>,
) -> Result<Json<DecisionBody>, Problem> {
    let id = params::parse_id("decision_id", params::read_path(id)?, DecisionId::new)?;
    let found = engine.feedback.decision(scope.get(), &id).await?;
    let unknown =
        || Problem::not_found(format!("decision {id} not found in this tenant and project"));
    Ok(Json(found.ok_or_else(unknown)?.into()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListRequest {
    session_id: String,
    after: Option<u64>,
    limit: Option<usize>,
}

#[utoipa::path(get, path = "/api/v1/decisions", tag = "decisions",
    summary = "List the decisions of a session, oldest first",
    params(("session_id" = String, Query), ("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A page; `next` continues it", body = DecisionsBody)))]
pub(crate) async fn list_decisions(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    parameters: QueryParams,
) -> Result<Json<DecisionsBody>, Problem> {
    let known = [
        ("session_id", ParamKind::Text),
        ("after", ParamKind::Scalar),
        ("limit", ParamKind::Scalar),
    ];
    let request: ListRequest = params::decode_query(parameters, &known)?;
    let conversation = params::parse_id("session_id", request.session_id, ConversationId::new)?;
    let limit = params::check_count("limit", request.limit, MAX_LIMIT, MAX_LIMIT)?;
    let after = params::check_position("after", request.after)?;
    let scope = scope.get();
    let found = engine.feedback.conversation_decisions(scope, &conversation, after, limit).await?;
    let next = found.last().map_or(after, |last| last.made.position);
    let Position(next) = next;
    Ok(Json(DecisionsBody { items: found.into_iter().map(DecisionBody::from).collect(), next }))
}

#[utoipa::path(get, path = "/api/v1/feedback/decisions/{session}", tag = "decisions",
    summary = "Show the decisions of a session, with success rates by confidence",
    params(("session" = String, Path)),
    responses((status = 200, description = "Up to 500 decisions", body = SessionDecisionsBody)))]
pub(crate) async fn list_session_decisions(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    session: PathParams<String>,
) -> Result<Json<SessionDecisionsBody>, Problem> {
    let session = params::parse_id("session", params::read_path(session)?, ConversationId::new)?;
    let found = engine
        .feedback
        .conversation_decisions(scope.get(), &session, Position(0), MAX_LIMIT)
        .await?;
    let calibration = report::confidence_bins(&found).into_iter().map(Into::into).collect();
    let truncated = found.len() == MAX_LIMIT;
    let decisions = found.into_iter().map(DecisionBody::from).collect();
    Ok(Json(SessionDecisionsBody { decisions, calibration, truncated }))
}
