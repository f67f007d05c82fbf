//! Single events: store, correct, read.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use engine::{Engine, Incoming, RequestKey, Trust};
use model::{EventId, Mac};
use serde_json::{Value, json};

use super::stored_status;
use crate::body::{self, Payload};
use crate::error::Problem;
use crate::middleware::auth::{Authorized, FeedbackAccess, ReadAccess, WriteAccess};
use crate::scope::RequestScope;
use crate::wire::feedback::{CorrectionRequest, EventRequest, EventResponse, ReceiptResponse};

/// Shared with batches: an event has the same MAC alone and in a batch.
pub(super) const EVENT_MAC_DOMAIN: &str = "event";
const CORRECTION_MAC_DOMAIN: &str = "correction";

#[utoipa::path(post, path = "/api/v1/feedback", tag = "events",
    summary = "Store an event",
    request_body(content = EventRequest, example = json!({"id": "e1", "type": "explicit", "source": "user_rating", "category": "accuracy", "session_id": "c1", "message_id": "t1", "user_id": "ann", "data": {"rating": "positive"}})),
    responses((status = 201, description = "Stored", body = ReceiptResponse), (status = 200, description = "Already stored by an earlier request; nothing changed", body = ReceiptResponse)))]
pub(crate) async fn submit_event(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<FeedbackAccess>,
    payload: Payload,
) -> Result<(StatusCode, Json<ReceiptResponse>), Problem> {
    let value = body::parse_json(&payload)?;
    let key = read_request_key(&engine, &payload.headers, EVENT_MAC_DOMAIN, &[], &value)?;
    let mac = engine.fingerprint(EVENT_MAC_DOMAIN, &value);
    let trust = if scope.is_widget() { Trust::Widget } else { Trust::Backend };
    if trust == Trust::Widget && !value["id"].is_null() {
        return Err(Problem::forbidden(
            "the event has an id, and widget keys cannot choose ids; send an Idempotency-Key header",
        ));
    }
    record_event(&engine, &scope, value, mac, key, trust).await
}

#[utoipa::path(post, path = "/api/v1/feedback/correction", tag = "events",
    summary = "Store a correction: an event whose type, source and category have defaults",
    request_body(content = CorrectionRequest, example = json!({"message_id": "t1", "data": {"original_sql": "SELECT 1", "corrected_sql": "SELECT 2"}})),
    responses((status = 201, description = "Stored", body = ReceiptResponse), (status = 200, description = "Already stored by an earlier request; nothing changed", body = ReceiptResponse)))]
pub(crate) async fn submit_correction(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    payload: Payload,
) -> Result<(StatusCode, Json<ReceiptResponse>), Problem> {
    let mut value = body::parse_json(&payload)?;
    let key = read_request_key(&engine, &payload.headers, CORRECTION_MAC_DOMAIN, &[], &value)?;
    let mac = engine.fingerprint(CORRECTION_MAC_DOMAIN, &value);
    if let Some(fields) = value.as_object_mut() {
        let defaults =
            [("type", "explicit"), ("source", "user_correction"), ("category", "accuracy")];
        for (name, word) in defaults {
            fields.entry(name).or_insert_with(|| Value::from(word));
        }
    }
    record_event(&engine, &scope, value, mac, key, Trust::Backend).await
}

async fn record_event(
    engine: &Engine,
    scope: &RequestScope,
    value: Value,
    mac: Mac,
    key: Option<RequestKey>,
    trust: Trust,
) -> Result<(StatusCode, Json<ReceiptResponse>), Problem> {
    let request: EventRequest = body::decode_fields(value)?;
    let scope = scope.resolve_tenant(request.tenant_id.as_deref())?;
    let receipt =
        engine.feedback.record(&scope, Incoming { raw: request.into(), mac, key, trust }).await?;
    Ok((stored_status(receipt.replayed), Json(receipt.into())))
}

#[utoipa::path(get, path = "/api/v1/feedback/{id}", tag = "events",
    summary = "Show an event; comments include their sentiment and topic",
    params(("id" = String, Path)),
    responses((status = 200, description = "The event", body = EventResponse)))]
pub(crate) async fn show_event(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<EventResponse>, Problem> {
    let invalid = || Problem::not_found("event not found: the id in the path is not a valid id");
    let Path(id) = id.map_err(|_| invalid())?;
    let id = EventId::new(id).map_err(|_| invalid())?;
    let unknown = || Problem::not_found(format!("event {id} not found in this tenant and project"));
    let found = engine.feedback.event(scope.get(), &id).await?.ok_or_else(unknown)?;
    let Some(comment) = engine.feedback.comment(&found).await? else {
        return Ok(Json(found.into()));
    };
    let patterns = engine.insights.comment_patterns(scope.get()).await?;
    Ok(Json(EventResponse::from(found).attach_comment(&comment, &patterns)))
}

/// Reads the `Idempotency-Key` header, which has the form of an id. Its MAC covers the kind of
/// request, the path and the body.
pub(super) fn read_request_key(
    engine: &Engine,
    headers: &HeaderMap,
    mac_domain: &str,
    address: &[&str],
    body: &Value,
) -> Result<Option<RequestKey>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let bad = |reason: String| Problem::invalid("Idempotency-Key", reason);
    let text =
        value.to_str().map_err(|_| bad("Idempotency-Key is not ASCII, expected an id".into()))?;
    match EventId::new(text) {
        Ok(_) => {
            let mac = engine.fingerprint(mac_domain, &json!([address, body]));
            Ok(Some(RequestKey { id: text.to_owned(), mac }))
        }
        Err(expected) => Err(bad(format!("Idempotency-Key: {expected}"))),
    }
}
