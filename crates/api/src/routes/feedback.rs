//! Single events: store, correct, read; and reactions to turns.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use engine::{
    EVENT_FIELDS, IncomingEvent, IncomingFeedback, IncomingReaction, ReactionReceipt, RequestMark,
    Trust,
};
use model::{ConversationId, EventId, TurnId, decode_path_segment};
use serde_json::{Value, json};

use super::{ReceiptResult, StoredResult, read_mark, read_request_key, receipt_response};
use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem, name_missing};
use crate::middleware::auth::{Call, FeedbackCall, ReadCall, WriteCall};
use crate::params::{self, PathParam, PathParams};
use crate::wire::feedback::{CorrectionRequest, EventRequest, EventResponse, ReceiptResponse};
use crate::wire::reaction::{ReactionRequest, ReactionResponse};
use crate::wire::turn_feedback::{TurnFeedbackRequest, TurnFeedbackResponse};

/// Shared with batches: an event has the same MAC alone and in a batch.
pub(super) const EVENT_MAC_DOMAIN: &str = "event";
const CORRECTION_MAC_DOMAIN: &str = "correction";
const REACTION_MAC_DOMAIN: &str = "reaction";
const FEEDBACK_MAC_DOMAIN: &str = "turn feedback";

#[utoipa::path(post, path = "/api/v1/feedback", tag = "events",
    summary = "Store an event",
    request_body(content = EventRequest, example = json!({"id": "e1", "type": "explicit", "source": "user_rating", "category": "accuracy", "session_id": "c1", "message_id": "t1", "user_id": "ann", "data": {"rating": "positive"}})),
    responses((status = 201, description = "Stored", body = ReceiptResponse), (status = 200, description = "Already stored by an earlier request; nothing changed", body = ReceiptResponse)))]
pub(crate) async fn submit_event(call: FeedbackCall, payload: Payload) -> ReceiptResult {
    let mut value = body::parse_json(&payload)?;
    body::rename_fields(&mut value, EVENT_FIELDS)?;
    let mark = read_mark(&call.engine, &payload, EVENT_MAC_DOMAIN, &[], &value)?;
    let trust = if call.is_widget() { Trust::Widget } else { Trust::Backend };
    if trust == Trust::Widget && !value["id"].is_null() {
        return Err(Problem::forbidden(
            "the event has an id, and widget keys cannot choose ids; send an Idempotency-Key header",
        ));
    }
    record_event(&call, value, mark, trust).await
}

#[utoipa::path(post, path = "/api/v1/feedback/correction", tag = "events",
    summary = "Store a correction: an event whose type, source and category have defaults",
    request_body(content = CorrectionRequest, example = json!({"message_id": "t1", "data": {"original_sql": "SELECT 1", "corrected_sql": "SELECT 2"}})),
    responses((status = 201, description = "Stored", body = ReceiptResponse), (status = 200, description = "Already stored by an earlier request; nothing changed", body = ReceiptResponse)))]
pub(crate) async fn submit_correction(call: WriteCall, payload: Payload) -> ReceiptResult {
    let mut value = body::parse_json(&payload)?;
    body::rename_fields(&mut value, EVENT_FIELDS)?;
    let mark = read_mark(&call.engine, &payload, CORRECTION_MAC_DOMAIN, &[], &value)?;
    if let Some(fields) = value.as_object_mut() {
        let defaults =
            [("type", "explicit"), ("source", "user_correction"), ("category", "accuracy")];
        for (name, word) in defaults {
            fields.entry(name).or_insert_with(|| Value::from(word));
        }
    }
    record_event(&call, value, mark, Trust::Backend).await
}

async fn record_event<P>(
    call: &Call<P>,
    value: Value,
    mark: RequestMark,
    trust: Trust,
) -> ReceiptResult {
    let request: EventRequest = body::decode_fields(value)?;
    let scope = call.resolve_tenant(request.tenant_id.as_deref())?;
    let RequestMark { mac, key } = mark;
    let incoming = IncomingEvent { raw: request.into(), mac, key, trust };
    let (receipt, warnings) = call.engine.feedback.record_with_warnings(&scope, incoming).await?;
    let (status, Json(response)) = receipt_response(receipt);
    Ok((status, Json(response.with_warnings(warnings))))
}

#[utoipa::path(get, path = "/api/v1/feedback/{id}", tag = "events",
    summary = "Show an event; comments include their sentiment and topic",
    params(("id" = String, Path)),
    responses((status = 200, description = "The event", body = EventResponse)))]
pub(crate) async fn show_event(call: ReadCall, id: PathParam) -> ApiResult<EventResponse> {
    let invalid = || Problem::not_found("event not found: the id in the path is not a valid id");
    let Path(id) = id.map_err(|_| invalid())?;
    let id = EventId::new(decode_path_segment(id)).map_err(|_| invalid())?;
    let unknown = || Problem::not_in_scope(format_args!("event {id}"));
    let found = call.engine.feedback.event(call.scope(), &id).await?.ok_or_else(unknown)?;
    let Some(comment) = call.engine.feedback.comment(&found).await? else {
        return Ok(Json(found.into()));
    };
    let patterns = call.engine.insights.comment_patterns(call.scope()).await?;
    Ok(Json(EventResponse::from(found).attach_comment(&comment, &patterns)))
}

#[utoipa::path(post, path = "/api/v1/turns/{turn_id}/feedback", tag = "reactions",
    summary = "Give feedback on a turn: reaction, stars, rating, comment, correction, tags, in one commit",
    params(("turn_id" = String, Path)),
    request_body(content = TurnFeedbackRequest, example = json!({"user_id": "ann", "reaction": "not_ok", "comment": "I meant gaming laptops", "tags": ["wrong_category"]})),
    responses((status = 200, description = "Stored", body = TurnFeedbackResponse), (status = 202, description = "Stored; the turn is unknown, and the feedback joins it when it arrives", body = TurnFeedbackResponse)))]
pub(crate) async fn give_feedback(
    call: FeedbackCall,
    turn: PathParam,
    payload: Payload,
) -> StoredResult<TurnFeedbackResponse> {
    let turn = params::read_id("turn_id", turn, TurnId::new)?;
    let value = body::parse_request::<TurnFeedbackRequest>(&payload)?;
    let address = [turn.as_str()];
    let key = read_request_key(&call.engine, &payload, FEEDBACK_MAC_DOMAIN, &address, &value)?;
    let mac = call.engine.fingerprint(FEEDBACK_MAC_DOMAIN, &json!([turn.as_str(), value]));
    let mut request: TurnFeedbackRequest = body::decode_fields(value)?;
    let conversation = params::parse_optional_id(
        "conversation_id",
        request.conversation_id.take(),
        ConversationId::new,
    )?;
    let trust = if call.is_widget() { Trust::Widget } else { Trust::Backend };
    let incoming =
        IncomingFeedback { turn: turn.clone(), conversation, raw: request.into(), mac, key, trust };
    let receipt = call
        .engine
        .feedback
        .give_feedback(call.scope(), incoming)
        .await
        .map_err(name_missing(&turn))?;
    let status = if receipt.pending { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(TurnFeedbackResponse::new(turn.to_string(), receipt))))
}

#[utoipa::path(post, path = "/conversations/{tenant}/{project}/{conversation_id}/turns/{turn_id}/feedback", tag = "reactions",
    summary = "Set, replace or clear (null) the reaction to a turn",
    params(("tenant" = String, Path), ("project" = String, Path), ("conversation_id" = String, Path), ("turn_id" = String, Path)),
    request_body(content = ReactionRequest, example = json!({"reaction": "not_ok", "text": "I meant gaming laptops"})),
    responses((status = 200, description = "The current reaction", body = ReactionResponse), (status = 202, description = "The confidence is too low; nothing was stored", body = ReactionResponse)))]
pub(crate) async fn submit_reaction(
    call: FeedbackCall,
    parts: PathParams<(String, String, String, String)>,
    payload: Payload,
) -> StoredResult<ReactionResponse> {
    let (tenant, project, conversation, turn) = params::read_path(parts)?;
    let (conversation, turn) = (decode_path_segment(conversation), decode_path_segment(turn));
    let by_widget = call.is_widget();
    let scope = call.resolve_path(&tenant, &project)?;
    let value = body::parse_request::<ReactionRequest>(&payload)?;
    if by_widget
        && let Some(field) = ["origin", "confidence"].iter().find(|f| !value[**f].is_null())
    {
        return Err(Problem::forbidden(format!(
            "the body has {field}, which widget keys cannot set; remove the field"
        )));
    }
    let address = [conversation.as_str(), &turn];
    let key = read_request_key(&call.engine, &payload, REACTION_MAC_DOMAIN, &address, &value)?;
    // The path is part of the request, so the MAC covers both.
    let mac = call.engine.fingerprint(REACTION_MAC_DOMAIN, &json!([conversation, turn, value]));
    let request: ReactionRequest = body::decode_fields(value)?;
    let incoming = IncomingReaction {
        conversation: params::parse_id("conversation_id", conversation, ConversationId::new)?,
        turn: params::parse_id("turn_id", turn.clone(), TurnId::new)?,
        raw: request.into(),
        mac,
        key,
    };
    Ok(match call.engine.feedback.react(&scope, incoming).await.map_err(name_missing(&turn))? {
        ReactionReceipt::Given { reaction, rn, unchanged } => {
            // A public page must not learn earlier reactions or the owner of the turn.
            let unchanged = unchanged && !by_widget;
            let rn = rn.filter(|_| !by_widget);
            let message = match (reaction, unchanged) {
                (None, false) => "reaction cleared",
                (None, true) => "nothing to clear",
                (Some(_), false) => "reaction recorded",
                (Some(_), true) => "reaction unchanged",
            };
            let response = ReactionResponse::Given {
                success: true,
                turn_id: turn,
                reaction: reaction.map(model::Reaction::as_word),
                message,
                cleared: reaction.is_none(),
                rn,
            };
            (StatusCode::OK, Json(response))
        }
        ReactionReceipt::Skipped => {
            let skipped = "confidence below 0.70";
            (StatusCode::ACCEPTED, Json(ReactionResponse::Skipped { success: false, skipped }))
        }
    })
}
