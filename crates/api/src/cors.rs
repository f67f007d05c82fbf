//! Lets web pages with a widget key of their origin send feedback, and nothing else.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use model::Role;

use crate::error::Problem;

/// Whether some widget key that is valid belongs to a page of this origin.
fn is_known(engine: &Engine, origin: &HeaderValue) -> bool {
    let Ok(origin) = origin.to_str() else { return false };
    engine.access.list_keys().iter().any(|key| {
        key.role == Role::Widget
            && key.revoked_at.is_none()
            && key.origin.as_deref() == Some(origin)
    })
}

/// Answers a browser that asks whether it may send. It asks without the key.
pub(crate) async fn preflight(State(engine): State<Arc<Engine>>, headers: HeaderMap) -> Response {
    match headers.get(header::ORIGIN) {
        Some(origin) if is_known(&engine, origin) => (
            StatusCode::NO_CONTENT,
            [
                (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
                (
                    header::ACCESS_CONTROL_ALLOW_HEADERS,
                    "Authorization, Content-Type, Idempotency-Key, X-API-Key, X-Uptake-Project",
                ),
                (header::ACCESS_CONTROL_MAX_AGE, "600"),
            ],
        )
            .into_response(),
        Some(_) | None => Problem::forbidden("no key belongs to this origin").into_response(),
    }
}

/// Lets the page read the answer.
pub(crate) async fn mark(
    State(engine): State<Arc<Engine>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = next.run(request).await;
    if let Some(origin) = origin.filter(|origin| is_known(&engine, origin)) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    response
}
