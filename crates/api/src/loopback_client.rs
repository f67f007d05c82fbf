//! Asks the API from inside the program, as the one who asked from outside.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::Response;
use serde_json::Value;
use tower_service::Service;

use crate::middleware::auth::LoopbackCall;

/// By which the API knows who asks, about what, from where.
const KEPT: [&str; 6] =
    ["authorization", "x-api-key", "x-uptake-tenant", "x-uptake-project", "host", "origin"];

/// Answers are ours and as long as a list of results; this is only a bound.
const LONGEST: usize = 64 << 20;

/// What the API answered: a JSON value with a good status, or the status and the detail of the problem.
pub async fn ask(
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
    for name in KEPT {
        if let Some(value) = headers.get(name) {
            request.headers_mut().insert(name, value.clone());
        }
    }
    let Ok(answer) = api.clone().call(request).await;
    read(answer).await.map_err(|(status, detail)| (status.as_u16(), detail))
}

async fn read(answer: Response) -> Result<Value, (StatusCode, String)> {
    let (parts, body) = answer.into_parts();
    let unreadable = |error: String| (StatusCode::INTERNAL_SERVER_ERROR, error);
    let bytes = to_bytes(body, LONGEST).await.map_err(|error| unreadable(error.to_string()))?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|e| unreadable(e.to_string()))?;
    if parts.status.is_success() {
        return Ok(value);
    }
    Err((parts.status, value["detail"].as_str().unwrap_or("no reason was given").to_owned()))
}
