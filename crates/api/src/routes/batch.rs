//! Many events in. One bad item never sinks the others.
//!
//! Items are read one by one, so that a batch takes little more memory than its own bytes; and only
//! so many batches are read at a time (`turnstile.rs`).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::{Engine, EngineError, IncomingEvent, RequestKey, Trust};
use model::Write;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::feedback::{DOOR, request_key};
use crate::auth::{May, Writing};
use crate::body::{self, Format, Sent};
use crate::error::Problem;
use crate::scope::RequestScope;
use crate::wire::feedback::{BatchError, BatchResponse, EventRequest};

const MAX_EVENTS: usize = 10_000;
/// The door's name in the MAC of a whole batch.
const BATCH_DOOR: &str = "batch";

/// `POST /api/v1/feedback/batch`
#[utoipa::path(
    post,
    path = "/api/v1/feedback/batch",
    tag = "events",
    summary = "Many events in, as a JSON array or one per line (application/x-ndjson)",
    request_body(content = Vec<EventRequest>, example = json!([{"id": "e2", "type": "explicit", "source": "user_rating", "category": "accuracy", "session_id": "c1", "message_id": "t1", "user_id": "ann", "data": {"rating": "positive"}}])),
    responses((status = 200, description = "All of them went in", body = BatchResponse), (status = 207, description = "Some did not; errors says which", body = BatchResponse))
)]
pub(crate) async fn submit(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<(StatusCode, Json<BatchResponse>), Problem> {
    let format = body::format(&sent.headers)?;
    let reader = Reader { engine: Arc::clone(&engine), scope: scope.into_scope() };
    // Reading sixteen megabytes takes a while; other requests must not wait for it.
    let read = tokio::task::spawn_blocking(move || reader.read(format, &sent));
    let items = read.await.map_err(|_| Problem::malformed("the batch could not be read"))??;
    let response = store(&engine, items).await?;
    let status = if response.rejected == 0 { StatusCode::OK } else { StatusCode::MULTI_STATUS };
    Ok((status, Json(response)))
}

type Item = Result<Write, Problem>;

struct Reader {
    engine: Arc<Engine>,
    scope: RequestScope,
}

impl Reader {
    fn read(&self, format: Format, sent: &Sent) -> Result<Vec<Item>, Problem> {
        let raw: Vec<&[u8]> = match format {
            Format::Ndjson => lines(&sent.bytes).take(MAX_EVENTS + 1).collect(),
            Format::Json => array(&sent.bytes)?,
        };
        if raw.len() > MAX_EVENTS {
            let detail = format!("the batch has over {MAX_EVENTS} events, expected at most that");
            return Err(Problem::too_large(detail));
        }
        let mut key = self.key_of(sent, &raw)?;
        let mut first = true;
        let mut items = Vec::with_capacity(raw.len());
        for (index, bytes) in raw.into_iter().enumerate() {
            let item = self.item(bytes, key.clone());
            // The first item that fits has the key itself, the others a key made of it. A space
            // keeps those apart from keys that clients can send.
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

    /// The key stands for the batch as a whole.
    fn key_of(&self, sent: &Sent, raw: &[&[u8]]) -> Result<Option<RequestKey>, Problem> {
        if !sent.headers.contains_key("idempotency-key") {
            return Ok(None);
        }
        let mac = |bytes: &&[u8]| match body::parse(bytes) {
            Ok(value) => json!(self.engine.fingerprint(DOOR, &value).0),
            Err(_) => json!(String::from_utf8_lossy(bytes)),
        };
        let macs: Value = raw.iter().map(mac).collect();
        request_key(&self.engine, &sent.headers, BATCH_DOOR, &[], &macs)
    }

    fn item(&self, bytes: &[u8], key: Option<RequestKey>) -> Item {
        let value = body::parse(bytes)?;
        let mac = self.engine.fingerprint(DOOR, &value);
        let request: EventRequest = body::shape(value)?;
        let scope = self.scope.with_tenant(request.tenant_id.as_deref())?;
        Ok(self.engine.feedback.prepare(
            &scope,
            IncomingEvent { raw: request.into(), mac, key, trust: Trust::Backend },
        )?)
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

/// The items of a JSON array, unread; one more than may be is enough to know.
fn array(bytes: &[u8]) -> Result<Vec<&[u8]>, Problem> {
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
        // Well-formed or not, it is no list.
        body::parse(bytes)?;
        return Err(Problem::invalid("body", "the body is not a JSON array; send one, or NDJSON"));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let items = reader.deserialize_seq(Items);
    match items {
        Ok(items) if items.len() > MAX_EVENTS => Ok(items),
        items => items.and_then(|items| reader.end().map(|()| items)).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Problem::malformed(format!(
                "the JSON is not well-formed at line {line}, column {column}"
            ))
        }),
    }
}

async fn store(engine: &Engine, items: Vec<Item>) -> Result<BatchResponse, Problem> {
    let mut response = BatchResponse::default();
    let (mut indexes, mut writes) = (Vec::new(), Vec::new());
    for (index, item) in items.into_iter().enumerate() {
        match item {
            Ok(write) => {
                indexes.push(index);
                writes.push(write);
            }
            Err(problem) => reject(&mut response, index, problem),
        }
    }
    let mut not_stored = 0;
    for (index, receipt) in indexes.into_iter().zip(engine.feedback.record_batch(writes).await?) {
        match receipt {
            Ok(receipt) if receipt.replayed => response.replayed += 1,
            Ok(_) => response.accepted += 1,
            Err(error) => {
                not_stored += usize::from(matches!(error, EngineError::NotStored));
                reject(&mut response, index, error.into());
            }
        }
    }
    if not_stored > 0 && response.accepted + response.replayed == 0 {
        return Err(EngineError::NotStored.into());
    }
    response.errors.sort_by_key(|error| error.index);
    Ok(response)
}

fn reject(response: &mut BatchResponse, index: usize, problem: Problem) {
    response.rejected += 1;
    response.errors.push(BatchError { index, field: problem.field, message: problem.detail });
}
