//! Handlers, one file per resource.

pub(crate) mod feedback;
pub(crate) mod batch;
pub(crate) mod events;
pub(crate) mod otlp;
pub(crate) mod turns;
pub(crate) mod lists;
pub(crate) mod strategies;
pub(crate) mod preferences;
pub(crate) mod routers;
pub(crate) mod experiments;
pub(crate) mod retrieval;
pub(crate) mod decisions;
pub(crate) mod reports;
pub(crate) mod quality;
pub(crate) mod failures;
pub(crate) mod artifacts;
pub(crate) mod keys;
pub(crate) mod tenants;
pub(crate) mod operations;

use axum::Json;
use axum::http::StatusCode;
use engine::{Engine, Receipt, RequestKey, RequestMark};
use model::IdempotencyKey;
use serde_json::{Value, json};

use crate::body::Payload;
use crate::error::Problem;
use crate::wire::feedback::ReceiptResponse;

type StoredResult<T> = Result<(StatusCode, Json<T>), Problem>;
type ReceiptResult = StoredResult<ReceiptResponse>;

/// Responds to a stored event. 202 for an event that waits for the turn or decision it names.
fn receipt_response(receipt: Receipt) -> (StatusCode, Json<ReceiptResponse>) {
    let status =
        if receipt.pending { StatusCode::ACCEPTED } else { stored_status(receipt.replayed) };
    (status, Json(receipt.into()))
}

/// 200 for a request that was stored before, 201 otherwise.
fn stored_status(replayed: bool) -> StatusCode {
    if replayed { StatusCode::OK } else { StatusCode::CREATED }
}

/// Reads the `Idempotency-Key` header: visible ASCII, since keys of batch items add a space. Its
/// MAC covers the kind of request, the path and the body.
fn read_request_key(
    engine: &Engine,
    payload: &Payload,
    mac_domain: &str,
    address: &[&str],
    body: &Value,
) -> Result<Option<RequestKey>, Problem> {
    let Some(value) = payload.headers.get("idempotency-key") else { return Ok(None) };
    let bad = |reason: String| Problem::invalid("Idempotency-Key", reason);
    let text =
        value.to_str().map_err(|_| bad("Idempotency-Key is not ASCII, expected a key".into()))?;
    match IdempotencyKey::new(text) {
        Ok(_) => {
            let mac = engine.fingerprint(mac_domain, &json!([address, body]));
            Ok(Some(RequestKey { id: text.to_owned(), mac }))
        }
        Err(expected) => Err(bad(format!("Idempotency-Key: {expected}"))),
    }
}

/// The MAC of a request, with its idempotency key.
fn read_mark(
    engine: &Engine,
    payload: &Payload,
    mac_domain: &str,
    address: &[&str],
    body: &Value,
) -> Result<RequestMark, Problem> {
    let key = read_request_key(engine, payload, mac_domain, address, body)?;
    Ok(RequestMark { mac: engine.fingerprint(mac_domain, body), key })
}
