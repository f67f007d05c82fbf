//! Many events in. One bad item never sinks the others.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use event::Write;
use flow::{Engine, FlowError, Incoming};
use serde_json::Value;

use super::feedback::{DOOR, idempotency_key};
use crate::body::{self, Format, Sent};
use crate::error::Problem;
use crate::scope::RequestScope;
use crate::wire::feedback::{BatchError, BatchResponse, EventRequest};

const MAX_EVENTS: usize = 10_000;

/// `POST /api/v1/feedback/batch`
pub(crate) async fn submit(
    State(engine): State<Arc<Engine>>,
    scope: RequestScope,
    sent: Sent,
) -> Result<(StatusCode, Json<BatchResponse>), Problem> {
    let format = body::format(&sent.headers)?;
    let key = idempotency_key(&sent.headers)?;
    let reader = Reader { engine: Arc::clone(&engine), scope, key };
    // Reading sixteen megabytes takes a while; other requests must not wait for it.
    let read = tokio::task::spawn_blocking(move || reader.read(format, &sent.bytes));
    let items = read.await.map_err(|_| Problem::malformed("the batch could not be read"))??;
    let response = store(&engine, items).await?;
    let status = if response.rejected == 0 { StatusCode::OK } else { StatusCode::MULTI_STATUS };
    Ok((status, Json(response)))
}

type Item = Result<Write, Problem>;

struct Reader {
    engine: Arc<Engine>,
    scope: RequestScope,
    key: Option<String>,
}

impl Reader {
    fn read(&self, format: Format, bytes: &[u8]) -> Result<Vec<Item>, Problem> {
        let values: Vec<Result<Value, Problem>> = match format {
            Format::Ndjson => lines(bytes).map(body::parse).collect(),
            Format::Json => array(body::parse(bytes)?)?.into_iter().map(Ok).collect(),
        };
        if values.len() > MAX_EVENTS {
            let got = values.len();
            let detail = format!("the batch has {got} events, expected at most {MAX_EVENTS}");
            return Err(Problem::too_large(detail));
        }
        let item = |(index, value): (usize, Result<Value, Problem>)| self.item(index, value?);
        Ok(values.into_iter().enumerate().map(item).collect())
    }

    fn item(&self, index: usize, value: Value) -> Item {
        let mac = self.engine.fingerprint(DOOR, &value);
        let request: EventRequest = body::shape(value)?;
        let scope = self.scope.with_tenant(request.tenant_id.as_deref())?;
        // Each item is a request of its own; a space keeps its key apart from keys that clients
        // can send.
        let key = self.key.as_ref().map(|key| format!("{key} {index}"));
        Ok(self.engine.prepare(&scope, Incoming { raw: request.into(), mac, key })?)
    }
}

fn array(value: Value) -> Result<Vec<Value>, Problem> {
    if let Value::Array(items) = value {
        return Ok(items);
    }
    Err(Problem::invalid("body", "the body is not a JSON array; send one, or NDJSON"))
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
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
    for (index, receipt) in indexes.into_iter().zip(engine.record_all(writes).await) {
        match receipt {
            Ok(receipt) if receipt.replayed => response.replayed += 1,
            Ok(_) => response.accepted += 1,
            Err(error) => {
                not_stored += usize::from(matches!(error, FlowError::NotStored));
                reject(&mut response, index, error.into());
            }
        }
    }
    if not_stored > 0 && response.accepted + response.replayed == 0 {
        return Err(FlowError::NotStored.into());
    }
    response.errors.sort_by_key(|error| error.index);
    Ok(response)
}

fn reject(response: &mut BatchResponse, index: usize, problem: Problem) {
    response.rejected += 1;
    response.errors.push(BatchError { index, field: problem.field, message: problem.detail });
}
