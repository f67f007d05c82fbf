//! Decisions and their late outcomes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::Engine;
use model::{ConversationId, DecisionId, Position};
use serde::Deserialize;
use serde_json::json;

use super::feedback::request_key;
use crate::address::{self, Parameters, Parts, Read};
use crate::auth::{May, Reading, Writing};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::wire::decision::{
    DecisionBody, DecisionReceipt, DecisionRequest, DecisionsBody, OutcomeRequest,
    SessionDecisionsBody,
};

const DOOR: &str = "decision";
const OUTCOME_DOOR: &str = "outcome";
const MAX_LIMIT: usize = 500;

/// `POST /api/v1/decisions`
#[utoipa::path(
    post,
    path = "/api/v1/decisions",
    tag = "decisions",
    summary = "A decision in",
    request_body(content = DecisionRequest, example = json!({"decision_id": "d1", "session_id": "c1", "decision_type": "sql_generation", "decision_data": {"tables": ["orders"]}, "confidence": 0.8})),
    responses((status = 201, description = "Stored", body = DecisionReceipt), (status = 200, description = "Stored before; nothing changed", body = DecisionReceipt))
)]
pub(crate) async fn decide(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<(StatusCode, Json<DecisionReceipt>), Problem> {
    let value = body::json(&sent)?;
    let key = request_key(&engine, &sent.headers, DOOR, &[], &value)?;
    let mac = engine.fingerprint(DOOR, &value);
    let request: DecisionRequest = body::shape(value)?;
    let (id, replayed) =
        engine.feedback.record_decision(scope.get(), request.into(), mac, key).await?;
    let status = if replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(DecisionReceipt { decision_id: id.to_string(), replayed })))
}

/// `PATCH /api/v1/decisions/{id}`
#[utoipa::path(
    patch,
    path = "/api/v1/decisions/{id}",
    tag = "decisions",
    summary = "How a decision turned out",
    params(("id" = String, Path)),
    request_body(content = OutcomeRequest, example = json!({"outcome": "success", "outcome_data": {"needed": ["orders"]}})),
    responses((status = 200, description = "Stored, or so already", body = DecisionReceipt))
)]
pub(crate) async fn settle(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    id: Parts<String>,
    sent: Sent,
) -> Result<Json<DecisionReceipt>, Problem> {
    let id = address::id("decision_id", address::parts(id)?, DecisionId::new)?;
    let value = body::json(&sent)?;
    let key = request_key(&engine, &sent.headers, OUTCOME_DOOR, &[id.as_str()], &value)?;
    let mac = engine.fingerprint(OUTCOME_DOOR, &json!([id.as_str(), value]));
    let request: OutcomeRequest = body::shape(value)?;
    let replayed =
        engine.feedback.record_outcome(scope.get(), &id, request.into(), mac, key).await?;
    Ok(Json(DecisionReceipt { decision_id: id.to_string(), replayed }))
}

/// `GET /api/v1/decisions/{id}`
#[utoipa::path(
    get,
    path = "/api/v1/decisions/{id}",
    tag = "decisions",
    summary = "A decision and its newest outcome",
    params(("id" = String, Path)),
    responses((status = 200, description = "The decision", body = DecisionBody))
)]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    id: Parts<String>,
) -> Result<Json<DecisionBody>, Problem> {
    let id = address::id("decision_id", address::parts(id)?, DecisionId::new)?;
    let found = engine.feedback.decision(scope.get(), &id).await?;
    let unknown = || Problem::not_found("there is no decision with this id here");
    Ok(Json(found.ok_or_else(unknown)?.into()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListRequest {
    session_id: String,
    after: Option<u64>,
    limit: Option<usize>,
}

/// `GET /api/v1/decisions?session_id=`
#[utoipa::path(
    get,
    path = "/api/v1/decisions",
    tag = "decisions",
    summary = "The decisions of a session, in order",
    params(("session_id" = String, Query), ("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A page", body = DecisionsBody))
)]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parameters: Parameters,
) -> Result<Json<DecisionsBody>, Problem> {
    let known = [("session_id", Read::Text), ("after", Read::Plain), ("limit", Read::Plain)];
    let request: ListRequest = body::shape(address::as_json(parameters, &known)?)?;
    let conversation = address::id("session_id", request.session_id, ConversationId::new)?;
    let limit = address::limit(request.limit, MAX_LIMIT, MAX_LIMIT)?;
    let after = address::position("after", request.after)?;
    let scope = scope.get();
    let found = engine.feedback.conversation_decisions(scope, &conversation, after, limit).await?;
    let next = found.last().map_or(after, |last| last.made.position);
    let Position(next) = next;
    Ok(Json(DecisionsBody { items: found.into_iter().map(DecisionBody::from).collect(), next }))
}

/// `GET /api/v1/feedback/decisions/{session}`
#[utoipa::path(
    get,
    path = "/api/v1/feedback/decisions/{session}",
    tag = "decisions",
    summary = "The decisions of a session, and how often they turned out well by how sure the agent was",
    params(("session" = String, Path)),
    responses((status = 200, description = "All of them, up to a thousand", body = SessionDecisionsBody))
)]
pub(crate) async fn of_session(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    session: Parts<String>,
) -> Result<Json<SessionDecisionsBody>, Problem> {
    let session = address::id("session", address::parts(session)?, ConversationId::new)?;
    let found = engine
        .feedback
        .conversation_decisions(scope.get(), &session, Position(0), MAX_LIMIT)
        .await?;
    let calibration = report::confidence_bins(&found).into_iter().map(Into::into).collect();
    let truncated = found.len() == MAX_LIMIT;
    let decisions = found.into_iter().map(DecisionBody::from).collect();
    Ok(Json(SessionDecisionsBody { decisions, calibration, truncated }))
}
