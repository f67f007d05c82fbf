//! Batches of events. An invalid item does not affect the others.
//!
//! Items are parsed one by one, so that a batch needs little more memory than its bytes. The number
//! of concurrent batches is limited by `batch_limiter.rs`.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use engine::{
    EVENT_FIELDS, Engine, EngineError, FeedbackTarget, IncomingEvent, RequestKey, StoredTarget,
    Trust, Warning,
};
use model::Write;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::feedback::EVENT_MAC_DOMAIN;
use super::{StoredResult, read_request_key};
use crate::body::{self, BodyFormat, Payload};
use crate::error::Problem;
use crate::middleware::auth::WriteCall;
use crate::wire::feedback::{BatchError, BatchResponse, BatchWarning, EventRequest};

const MAX_EVENTS: usize = 10_000;
/// Warnings listed in a response.
const MAX_WARNINGS: usize = 100;
const BATCH_MAC_DOMAIN: &str = "batch";

#[utoipa::path(post, path = "/api/v1/feedback/batch", tag = "events",
    summary = "Store many events, as a JSON array or NDJSON (application/x-ndjson)",
    request_body(content = Vec<EventRequest>, example = json!([{"id": "e2", "type": "explicit", "source": "user_rating", "category": "accuracy", "session_id": "c1", "message_id": "t1", "user_id": "ann", "data": {"rating": "positive"}}])),
    responses((status = 200, description = "All events were stored", body = BatchResponse), (status = 207, description = "Some events were rejected; `errors` lists them", body = BatchResponse)))]
pub(crate) async fn submit_batch(call: WriteCall, payload: Payload) -> StoredResult<BatchResponse> {
    let engine = Arc::clone(&call.engine);
    let format = body::detect_format(&payload.headers)?;
    // Parsing takes long for large batches and must not block the async threads.
    let read = tokio::task::spawn_blocking(move || read_items(&call, format, &payload));
    let items =
        read.await.map_err(|_| Problem::malformed("parsing the batch failed; send it again"))??;
    let response = store_items(&engine, items).await?;
    let status = if response.rejected == 0 { StatusCode::OK } else { StatusCode::MULTI_STATUS };
    Ok((status, Json(response)))
}

type Item = Result<Write, Problem>;

fn read_items(
    call: &WriteCall,
    format: BodyFormat,
    payload: &Payload,
) -> Result<Vec<Item>, Problem> {
    let raw: Vec<&[u8]> = match format {
        BodyFormat::Ndjson => split_lines(&payload.bytes).take(MAX_EVENTS + 1).collect(),
        BodyFormat::Json => split_array(&payload.bytes)?,
    };
    if raw.len() > MAX_EVENTS {
        let detail =
            format!("the batch has too many events, expected at most {MAX_EVENTS}; split it");
        return Err(Problem::too_large(detail));
    }
    let mut key = batch_key(call, payload, &raw)?;
    let mut first = true;
    let mut items = Vec::with_capacity(raw.len());
    for (index, bytes) in raw.into_iter().enumerate() {
        let item = read_item(call, bytes, key.clone());
        // The first valid item gets the key itself, the others a derived key. The space
        // distinguishes derived keys from keys that clients can send.
        if let Some(key) = &mut key
            && (item.is_ok() || !first)
        {
            let own = key.id.split(' ').next().unwrap_or_default();
            key.id = format!("{own} {}", index + 1);
            first = false;
        }
        items.push(item);
    }
    Ok(items)
}

/// The Idempotency-Key covers the batch as a whole.
fn batch_key(
    call: &WriteCall,
    payload: &Payload,
    raw: &[&[u8]],
) -> Result<Option<RequestKey>, Problem> {
    if !payload.headers.contains_key("idempotency-key") {
        return Ok(None);
    }
    let mac = |bytes: &&[u8]| match body::parse_json_bytes(bytes) {
        Ok(value) => json!(call.engine.fingerprint(EVENT_MAC_DOMAIN, &value).0),
        Err(_) => json!(String::from_utf8_lossy(bytes)),
    };
    let macs: Value = raw.iter().map(mac).collect();
    read_request_key(&call.engine, payload, BATCH_MAC_DOMAIN, &[], &macs)
}

fn read_item(call: &WriteCall, bytes: &[u8], key: Option<RequestKey>) -> Item {
    let mut value = body::parse_json_bytes(bytes)?;
    body::rename_fields(&mut value, EVENT_FIELDS)?;
    let mac = call.engine.fingerprint(EVENT_MAC_DOMAIN, &value);
    let request: EventRequest = body::decode_fields(value)?;
    let scope = call.resolve_tenant(request.tenant_id.as_deref())?;
    let incoming = IncomingEvent { raw: request.into(), mac, key, trust: Trust::Backend };
    Ok(call.engine.feedback.prepare(&scope, incoming)?)
}

fn split_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

/// Returns the raw items of a JSON array, at most one more than allowed.
fn split_array(bytes: &[u8]) -> Result<Vec<&[u8]>, Problem> {
    struct Items;
    impl<'de> Visitor<'de> for Items {
        type Value = Vec<&'de [u8]>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a JSON array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut raw = Vec::new();
            while let Some(item) = items.next_element::<&RawValue>()? {
                raw.push(item.get().as_bytes());
                if raw.len() > MAX_EVENTS {
                    break;
                }
            }
            Ok(raw)
        }
    }
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        // Syntax errors take precedence.
        body::parse_json_bytes(bytes)?;
        return Err(Problem::invalid(
            "body",
            "the body is not a JSON array; send an array of events or NDJSON",
        ));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let items = reader.deserialize_seq(Items);
    match items {
        Ok(items) if items.len() > MAX_EVENTS => Ok(items),
        items => items.and_then(|items| reader.end().map(|()| items)).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Problem::malformed(format!(
                "the JSON has a syntax error at line {line}, column {column}"
            ))
        }),
    }
}

async fn store_items(engine: &Engine, items: Vec<Item>) -> Result<BatchResponse, Problem> {
    let mut response = BatchResponse::default();
    let (mut indexes, mut writes, mut targets) = (Vec::new(), Vec::new(), HashMap::new());
    for (index, item) in items.into_iter().enumerate() {
        match item {
            Ok(write) => {
                indexes.push(index);
                targets.extend(FeedbackTarget::from_write(&write).map(|target| (index, target)));
                writes.push(write);
            }
            Err(problem) => add_error(&mut response, index, problem),
        }
    }
    let mut not_stored = 0;
    let mut stored = Vec::new();
    for (index, receipt) in indexes.into_iter().zip(engine.feedback.record_batch(writes).await?) {
        match receipt {
            Ok(receipt) => {
                response.replayed += usize::from(receipt.replayed);
                response.accepted += usize::from(!receipt.replayed);
                let target = targets.remove(&index);
                stored.extend(target.map(|target| StoredTarget { index, receipt, target }));
            }
            Err(error) => {
                not_stored += usize::from(matches!(error, EngineError::NotStored));
                add_error(&mut response, index, error.into());
            }
        }
    }
    if not_stored > 0 && response.accepted + response.replayed == 0 {
        return Err(EngineError::NotStored.into());
    }
    response.errors.sort_by_key(|error| error.index);
    let mut warnings = engine.feedback.check_targets(stored).await?;
    warnings.sort_by_key(|(index, _)| *index);
    let body = |(index, warning): (usize, Warning)| BatchWarning { index, warning: warning.into() };
    response.warnings = warnings.into_iter().take(MAX_WARNINGS).map(body).collect();
    Ok(response)
}

fn add_error(response: &mut BatchResponse, index: usize, problem: Problem) {
    response.rejected += 1;
    response.errors.push(BatchError { index, field: problem.field, message: problem.detail });
}
