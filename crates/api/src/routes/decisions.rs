//! Decisions of agents and their outcomes.

use axum::Json;
use axum::http::StatusCode;
use engine::OutcomeReceipt;
use model::{ConversationId, DecisionId, Position};
use serde_json::json;

use super::{StoredResult, read_mark, read_request_key, stored_status};
use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem};
use crate::middleware::auth::{ReadCall, WriteCall};
use crate::params::{self, ParamKind, PathParam, QueryParams};
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
    call: WriteCall,
    payload: Payload,
) -> StoredResult<DecisionReceipt> {
    let value = body::parse_request::<DecisionRequest>(&payload)?;
    let mark = read_mark(&call.engine, &payload, MAC_DOMAIN, &[], &value)?;
    let request: DecisionRequest = body::decode_fields(value)?;
    let scope = call.resolve_tenant(request.tenant_id.as_deref())?;
    let feedback = &call.engine.feedback;
    let (id, replayed) =
        feedback.record_decision(&scope, request.into(), mark.mac, mark.key).await?;
    let receipt = DecisionReceipt { decision_id: id.to_string(), replayed, pending: false };
    Ok((stored_status(replayed), Json(receipt)))
}

#[utoipa::path(patch, path = "/api/v1/decisions/{id}", tag = "decisions",
    summary = "Record the outcome of a decision, also before the decision",
    params(("id" = String, Path)),
    request_body(content = OutcomeRequest, example = json!({"outcome": "success", "outcome_data": {"needed": ["orders"]}})),
    responses((status = 200, description = "Stored; `replayed` is true when it was stored before", body = DecisionReceipt), (status = 202, description = "Stored; `pending` is true because the decision is not stored yet", body = DecisionReceipt)))]
pub(crate) async fn record_outcome(
    call: WriteCall,
    id: PathParam,
    payload: Payload,
) -> StoredResult<DecisionReceipt> {
    let id = params::read_id("decision_id", id, DecisionId::new)?;
    let value = body::parse_request::<OutcomeRequest>(&payload)?;
    let address = [id.as_str()];
    let key = read_request_key(&call.engine, &payload, OUTCOME_MAC_DOMAIN, &address, &value)?;
    let mac = call.engine.fingerprint(OUTCOME_MAC_DOMAIN, &json!([id.as_str(), value]));
    let request: OutcomeRequest = body::decode_fields(value)?;
    let OutcomeReceipt { replayed, pending } =
        call.engine.feedback.record_outcome(call.scope(), &id, request.into(), mac, key).await?;
    let status = if pending { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(DecisionReceipt { decision_id: id.to_string(), replayed, pending })))
}

#[utoipa::path(get, path = "/api/v1/decisions/{id}", tag = "decisions",
    summary = "Show a decision and its latest outcome",
    params(("id" = String, Path)),
    responses((status = 200, description = "The decision", body = DecisionBody)))]
pub(crate) async fn show_decision(call: ReadCall, id: PathParam) -> ApiResult<DecisionBody> {
    let id = params::read_id("decision_id", id, DecisionId::new)?;
    let found = call.engine.feedback.decision(call.scope(), &id).await?;
    let unknown = || Problem::not_in_scope(format_args!("decision {id}"));
    Ok(Json(found.ok_or_else(unknown)?.into()))
}

#[utoipa::path(get, path = "/api/v1/decisions", tag = "decisions",
    summary = "List the decisions of a session, oldest first",
    params(("session_id" = String, Query), ("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A page; `next` continues it", body = DecisionsBody)))]
pub(crate) async fn list_decisions(call: ReadCall, query: QueryParams) -> ApiResult<DecisionsBody> {
    let known = [
        ("session_id", ParamKind::Text),
        ("after", ParamKind::Scalar),
        ("limit", ParamKind::Scalar),
    ];
    let mut query = params::read_query(query, &known)?;
    let (after, limit) = (query.take_position()?, query.take_limit(MAX_LIMIT, MAX_LIMIT)?);
    let missing = || Problem::invalid("session_id", "session_id: missing field `session_id`");
    let session = query.take("session_id")?.ok_or_else(missing)?;
    let session = params::parse_id("session_id", session, ConversationId::new)?;
    let found =
        call.engine.feedback.conversation_decisions(call.scope(), &session, after, limit).await?;
    let Position(next) = found.last().map_or(after, |last| last.made.position);
    Ok(Json(DecisionsBody { items: found.into_iter().map(DecisionBody::from).collect(), next }))
}

#[utoipa::path(get, path = "/api/v1/feedback/decisions/{session}", tag = "decisions",
    summary = "Show the decisions of a session, with success rates by confidence",
    params(("session" = String, Path), ("after" = Option<u64>, Query), ("limit" = Option<u16>, Query)),
    responses((status = 200, description = "A page of decisions; `next` continues it while `truncated` is true", body = SessionDecisionsBody)))]
pub(crate) async fn list_session_decisions(
    call: ReadCall,
    session: PathParam,
    query: QueryParams,
) -> ApiResult<SessionDecisionsBody> {
    let session = params::read_id("session", session, ConversationId::new)?;
    let (after, limit) = params::read_page(query, MAX_LIMIT)?;
    let feedback = &call.engine.feedback;
    let mut found =
        feedback.conversation_decisions(call.scope(), &session, after, limit + 1).await?;
    let truncated = found.len() > limit;
    found.truncate(limit);
    let Position(next) = found.last().map_or(after, |last| last.made.position);
    let calibration = feedback.session_calibration(call.scope(), &session).await?;
    let calibration = calibration.into_iter().map(Into::into).collect();
    let decisions = found.into_iter().map(DecisionBody::from).collect();
    Ok(Json(SessionDecisionsBody { decisions, calibration, truncated, next }))
}
