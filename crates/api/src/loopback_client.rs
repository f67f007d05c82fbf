//! Calls the API in process, on behalf of the client of a mounted service.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, header};
use serde_json::Value;
use tower_service::Service;

use crate::middleware::auth::LoopbackCall;

/// Headers that identify the client, its scope and its origin.
const FORWARDED_HEADERS: [&str; 6] =
    ["authorization", "x-api-key", "x-uptake-tenant", "x-uptake-project", "host", "origin"];

/// Status of responses that cannot be read.
const INTERNAL_ERROR: u16 = 500;
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Posts a JSON body. Returns the JSON response, or the status and detail of the problem.
pub async fn post_loopback(
    api: &Router,
    headers: &HeaderMap,
    path: &str,
    body: &Value,
) -> Result<Value, (u16, String)> {
    let failed = |error: axum::Error| (INTERNAL_ERROR, error.to_string());
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json")
        .extension(LoopbackCall)
        .body(Body::from(body.to_string()))
        .map_err(|error| failed(axum::Error::new(error)))?;
    for name in FORWARDED_HEADERS {
        if let Some(value) = headers.get(name) {
            request.headers_mut().insert(name, value.clone());
        }
    }
    let Ok(response) = api.clone().call(request).await;
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, MAX_RESPONSE_BYTES).await.map_err(failed)?;
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|error| failed(axum::Error::new(error)))?;
    if parts.status.is_success() {
        return Ok(value);
    }
    let detail = value["detail"].as_str().unwrap_or("the response has no detail");
    Err((parts.status.as_u16(), detail.to_owned()))
}
