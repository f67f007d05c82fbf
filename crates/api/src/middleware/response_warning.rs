//! Adds a warning to responses: to the body of JSON objects, otherwise as a header.

use axum::body::{Body, to_bytes};
use axum::http::header::{self, HeaderValue};
use axum::response::Response;
use engine::{Engine, Warning};
use serde_json::{Value, json};

use crate::wire::warning::WarningBody;

/// The code of the warning, for responses whose body has no place for it.
const WARNING_HEADER: &str = "x-warning";
/// Larger responses get the header.
const MAX_BODY_BYTES: u64 = 4 << 20;

/// Counts the warning and adds it to the `warnings` of a successful JSON object. Other responses
/// get the header `X-Warning`.
pub(crate) async fn add_warning(response: Response, engine: &Engine, warning: Warning) -> Response {
    engine.count_warning(&warning);
    let media = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let size = axum::body::HttpBody::size_hint(response.body()).upper();
    let fits = media == Some("application/json")
        && response.status().is_success()
        && size.is_some_and(|bytes| bytes <= MAX_BODY_BYTES);
    if !fits {
        return add_header(response, &warning);
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, MAX_BODY_BYTES as usize).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let mut value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if !value.is_object() {
        return add_header(Response::from_parts(parts, Body::from(bytes)), &warning);
    }
    let warning = json!(WarningBody::from(warning));
    match value["warnings"].as_array_mut() {
        Some(warnings) => warnings.push(warning),
        None => value["warnings"] = json!([warning]),
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(value.to_string()))
}

fn add_header(mut response: Response, warning: &Warning) -> Response {
    let code = HeaderValue::from_static(warning.code.as_word());
    response.headers_mut().insert(WARNING_HEADER, code);
    response
}
