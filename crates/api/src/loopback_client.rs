//! Calls the API in process, on behalf of the client of a mounted service.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::Response;
use serde_json::Value;
use tower_service::Service;

use crate::middleware::auth::LoopbackCall;

/// Headers that identify the client, its scope and its origin.
const FORWARDED_HEADERS: [&str; 6] =
    ["authorization", "x-api-key", "x-uptake-tenant", "x-uptake-project", "host", "origin"];

const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Posts a JSON body. Returns the JSON response, or the status and detail of the problem.
pub async fn post_loopback(
    api: &Router,
    headers: &HeaderMap,
    path: &str,
    body: &Value,
) -> Result<Value, (u16, String)> {
    let failed = |detail: String| (StatusCode::INTERNAL_SERVER_ERROR.as_u16(), detail);
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json")
        .extension(LoopbackCall)
        .body(Body::from(body.to_string()))
        .map_err(|error| failed(error.to_string()))?;
    for name in FORWARDED_HEADERS {
        if let Some(value) = headers.get(name) {
            request.headers_mut().insert(name, value.clone());
        }
    }
    let Ok(response) = api.clone().call(request).await;
    read_response(response).await.map_err(|(status, detail)| (status.as_u16(), detail))
}

async fn read_response(response: Response) -> Result<Value, (StatusCode, String)> {
    let (parts, body) = response.into_parts();
    let unreadable = |error: String| (StatusCode::INTERNAL_SERVER_ERROR, error);
    let bytes =
        to_bytes(body, MAX_RESPONSE_BYTES).await.map_err(|error| unreadable(error.to_string()))?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|e| unreadable(e.to_string()))?;
    if parts.status.is_success() {
        return Ok(value);
    }
    Err((parts.status, value["detail"].as_str().unwrap_or("the response has no detail").to_owned()))
}
