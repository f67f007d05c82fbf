//! CORS for the feedback routes: allows the origins of active widget keys. `tower-http` decides by a
//! fixed list; keys are created and revoked at run time.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use model::Role;

use crate::error::Problem;
use crate::middleware::auth::Identity;

fn is_widget_origin(engine: &Engine, origin: &HeaderValue) -> bool {
    let Ok(origin) = origin.to_str() else { return false };
    engine.access.list_keys().iter().any(|key| {
        key.role == Role::Widget
            && key.revoked_at.is_none()
            && key.origin.as_deref() == Some(origin)
    })
}

/// Browsers send the preflight without the key, so any widget key of the origin allows it.
pub(crate) async fn answer_preflight(
    State(engine): State<Arc<Engine>>,
    headers: HeaderMap,
) -> Response {
    match headers.get(header::ORIGIN) {
        Some(origin) if is_widget_origin(&engine, origin) => (
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
        Some(_) | None => Problem::forbidden("no active widget key has this origin; create one with uptake keys create … --role widget --origin …").into_response(),
    }
}

/// Allows the page to read the response.
pub(crate) async fn add_cors_headers(
    Extension(identity): Extension<Identity>,
    request: Request,
    next: Next,
) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = next.run(request).await;
    if let Some(origin) = origin.filter(|origin| is_widget_origin(&identity.auth.engine, origin)) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    response
}
