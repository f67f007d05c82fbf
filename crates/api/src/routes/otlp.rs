//! Traces of other instrumentations: OTLP over HTTP.
//!
//! Responses have the encoding of the request. Exporters repeat a request after 429 and 503 only, so
//! a failure of the store is never another status.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::{PreparedSpans, RawSpan, RawSpanEvent};
use otlp::{Encoding, Refusal, TraceRequest, TraceResponse, decode_traces};

use crate::body::Payload;
use crate::error::Problem;
use crate::middleware::auth::WriteCall;

#[utoipa::path(post, path = "/v1/traces", tag = "traces",
    summary = "Receive OpenTelemetry traces: OTLP over HTTP, in protobuf or JSON",
    request_body(content(
        (Object = "application/json", example = json!({"resourceSpans": []})),
        (Vec<u8> = "application/x-protobuf"))),
    responses((status = 200, description = "The spans are durable; `partialSuccess` counts invalid ones", body = Object)))]
pub(crate) async fn receive_traces(
    headers: HeaderMap,
    call: Result<WriteCall, Problem>,
    payload: Result<Payload, Problem>,
) -> Response {
    let Some(encoding) = read_encoding(&headers) else {
        let detail = "the Content-Type is neither application/x-protobuf nor application/json, \
                      which OTLP over HTTP needs";
        return Problem::wrong_media_type(detail).into_response();
    };
    let stored = match (call, payload) {
        (Ok(call), Ok(payload)) => store_traces(call, encoding, payload).await,
        (Err(problem), _) | (_, Err(problem)) => Err(problem),
    };
    match stored {
        Ok(response) => respond(StatusCode::OK, encoding, response.encode(encoding)),
        Err(problem) => refuse(&problem, encoding),
    }
}

fn read_encoding(headers: &HeaderMap) -> Option<Encoding> {
    Encoding::from_content_type(headers.get(header::CONTENT_TYPE)?.to_str().ok()?)
}

fn respond(status: StatusCode, encoding: Encoding, body: Vec<u8>) -> Response {
    let media = HeaderValue::from_static(encoding.content_type());
    (status, [(header::CONTENT_TYPE, media)], body).into_response()
}

fn refuse(problem: &Problem, encoding: Encoding) -> Response {
    let refusal = Refusal { message: problem.detail.clone() };
    let mut response = respond(problem.status, encoding, refusal.encode_as(encoding));
    if let Some(seconds) = problem.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

async fn store_traces(
    call: WriteCall,
    encoding: Encoding,
    payload: Payload,
) -> Result<TraceResponse, Problem> {
    let engine = Arc::clone(&call.engine);
    // Decoding and redaction take long for many spans.
    let prepared =
        tokio::task::spawn_blocking(move || prepare_traces(&call, encoding, &payload)).await;
    let failed = |_| Problem::malformed("reading the spans failed; send them again");
    let (spans, response) = prepared.map_err(failed)??;
    engine.traces.store_spans(spans).await?;
    engine.traces.count_rejected(response.rejected);
    Ok(response)
}

fn prepare_traces(
    call: &WriteCall,
    encoding: Encoding,
    payload: &Payload,
) -> Result<(PreparedSpans, TraceResponse), Problem> {
    let request = decode_traces(encoding, &payload.bytes)
        .map_err(|malformed| Problem::malformed(malformed.to_string()))?;
    let (spans, response) = read_spans(request);
    Ok((call.engine.traces.prepare_spans(call.scope(), spans)?, response))
}

/// The spans of a request. Those without valid ids are rejected, and the others are taken.
fn read_spans(request: TraceRequest) -> (Vec<RawSpan>, TraceResponse) {
    let (mut spans, mut response) = (Vec::new(), TraceResponse::default());
    let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    for scope in scopes {
        let name = scope.scope.map(|scope| scope.name).unwrap_or_default();
        for span in scope.spans {
            match read_span(&name, span) {
                Some(span) => spans.push(span),
                None => {
                    response.rejected += 1;
                    response.reason =
                        "a span has no valid traceId (16 bytes) or spanId (8 bytes); \
                                       logs are not spans and go to /v1/logs"
                            .to_owned();
                }
            }
        }
    }
    (spans, response)
}

fn read_span(scope: &str, span: otlp::Span) -> Option<RawSpan> {
    let status = span.status.unwrap_or_default();
    let event = |event: &otlp::SpanEvent| RawSpanEvent {
        name: event.name.clone(),
        at: micros(event.time_unix_nano),
        attributes: otlp::to_fields(&event.attributes),
    };
    Some(RawSpan {
        trace_id: hex_id::<16>(&span.trace_id)?,
        span_id: hex_id::<8>(&span.span_id)?,
        parent_id: hex_id::<8>(&span.parent_span_id),
        scope: scope.to_owned(),
        started_at: micros(span.start_time_unix_nano),
        ended_at: micros(span.end_time_unix_nano),
        attributes: otlp::to_fields(&span.attributes),
        events: span.events.iter().map(event).collect(),
        failed: status.code == 2,
        message: status.message,
        name: span.name,
    })
}

fn micros(nanos: u64) -> i64 {
    (nanos / 1000) as i64
}

/// An id in hexadecimal. `None` when it has another length, or is all zero.
fn hex_id<const BYTES: usize>(id: &[u8]) -> Option<String> {
    let is_valid = id.len() == BYTES && id.iter().any(|byte| *byte != 0);
    is_valid.then(|| id.iter().map(|byte| format!("{byte:02x}")).collect())
}
