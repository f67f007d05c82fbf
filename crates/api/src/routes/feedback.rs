//! One event in, one event out.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use engine::{Engine, IncomingEvent, RequestKey, Trust};
use model::{EventId, Mac};
use serde_json::{Value, json};

use crate::auth::{May, Reacting, Reading, Writing};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::scope::RequestScope;
use crate::wire::feedback::{CorrectionRequest, EventRequest, EventResponse, ReceiptResponse};

/// The door's name in MACs: an event is the same event alone and in a batch.
pub(super) const DOOR: &str = "event";
const CORRECTION_DOOR: &str = "correction";

/// `POST /api/v1/feedback`
#[utoipa::path(
    post,
    path = "/api/v1/feedback",
    tag = "events",
    summary = "One event in",
    request_body(content = EventRequest, example = json!({"id": "e1", "type": "explicit", "source": "user_rating", "category": "accuracy", "session_id": "c1", "message_id": "t1", "user_id": "ann", "data": {"rating": "positive"}})),
    responses((status = 201, description = "Stored", body = ReceiptResponse), (status = 200, description = "Stored before; nothing changed", body = ReceiptResponse))
)]
pub(crate) async fn submit(
    State(engine): State<Arc<Engine>>,
    scope: May<Reacting>,
    sent: Sent,
) -> Result<(StatusCode, Json<ReceiptResponse>), Problem> {
    let value = body::json(&sent)?;
    let key = request_key(&engine, &sent.headers, DOOR, &[], &value)?;
    let mac = engine.fingerprint(DOOR, &value);
    let trust = if scope.is_widget() { Trust::Widget } else { Trust::Backend };
    if trust == Trust::Widget && !value["id"].is_null() {
        return Err(Problem::forbidden("a widget key cannot choose ids; send an Idempotency-Key"));
    }
    record(&engine, &scope, value, mac, key, trust).await
}

/// `POST /api/v1/feedback/correction`: the same event with its words filled in.
#[utoipa::path(
    post,
    path = "/api/v1/feedback/correction",
    tag = "events",
    summary = "A better answer in: an event with its words filled in",
    request_body(content = CorrectionRequest, example = json!({"message_id": "t1", "data": {"original_sql": "SELECT 1", "corrected_sql": "SELECT 2"}})),
    responses((status = 201, description = "Stored", body = ReceiptResponse), (status = 200, description = "Stored before; nothing changed", body = ReceiptResponse))
)]
pub(crate) async fn correct(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<(StatusCode, Json<ReceiptResponse>), Problem> {
    let mut value = body::json(&sent)?;
    let key = request_key(&engine, &sent.headers, CORRECTION_DOOR, &[], &value)?;
    let mac = engine.fingerprint(CORRECTION_DOOR, &value);
    if let Some(fields) = value.as_object_mut() {
        let words = [("type", "explicit"), ("source", "user_correction"), ("category", "accuracy")];
        for (name, word) in words {
            fields.entry(name).or_insert_with(|| Value::from(word));
        }
    }
    record(&engine, &scope, value, mac, key, Trust::Backend).await
}

async fn record(
    engine: &Engine,
    scope: &RequestScope,
    value: Value,
    mac: Mac,
    key: Option<RequestKey>,
    trust: Trust,
) -> Result<(StatusCode, Json<ReceiptResponse>), Problem> {
    let request: EventRequest = body::shape(value)?;
    let scope = scope.with_tenant(request.tenant_id.as_deref())?;
    let receipt = engine
        .feedback
        .record(&scope, IncomingEvent { raw: request.into(), mac, key, trust })
        .await?;
    let status = if receipt.replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(receipt.into())))
}

/// `GET /api/v1/feedback/{id}`
#[utoipa::path(
    get,
    path = "/api/v1/feedback/{id}",
    tag = "events",
    summary = "One event as it was stored; a comment with what it sounds like and is about",
    params(("id" = String, Path)),
    responses((status = 200, description = "The event", body = EventResponse))
)]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<EventResponse>, Problem> {
    let unknown = || Problem::not_found("there is no event with this id");
    let Path(id) = id.map_err(|_| unknown())?;
    let id = EventId::new(id).map_err(|_| unknown())?;
    let found = engine.feedback.event(scope.get(), &id).await?.ok_or_else(unknown)?;
    let Some(comment) = engine.feedback.comment(&found).await? else {
        return Ok(Json(found.into()));
    };
    let patterns = engine.insights.comment_patterns(scope.get()).await?;
    Ok(Json(EventResponse::from(found).with_comment(&comment, &patterns)))
}

/// The request's `Idempotency-Key`, which has the form of an id, and the MAC of the request it
/// stands for: the door, the address and the whole body.
pub(super) fn request_key(
    engine: &Engine,
    headers: &HeaderMap,
    door: &str,
    address: &[&str],
    body: &Value,
) -> Result<Option<RequestKey>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let bad = |reason: String| Problem::invalid("Idempotency-Key", reason);
    let text = value.to_str().map_err(|_| bad("Idempotency-Key is not ASCII".into()))?;
    match EventId::new(text) {
        Ok(_) => {
            let mac = engine.fingerprint(door, &json!([address, body]));
            Ok(Some(RequestKey { id: text.to_owned(), mac }))
        }
        Err(expected) => Err(bad(format!("Idempotency-Key: {expected}"))),
    }
}
