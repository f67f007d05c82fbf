//! Assigns request ids and renders problem responses. Hand-written because the id is also part of the
//! error body, which the layers of `tower-http` do not write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::error::Problem;

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Numbers requests, so that a log line can be matched with a response.
#[derive(Clone, Debug)]
pub(crate) struct RequestIds {
    run: Arc<str>,
    count: Arc<AtomicU64>,
}

impl RequestIds {
    /// `run` distinguishes runs of the server.
    pub(crate) fn new(run: &str) -> Self {
        Self { run: run.into(), count: Arc::default() }
    }

    fn next_id(&self) -> String {
        format!("{}-{:x}", self.run, self.count.fetch_add(1, Ordering::Relaxed))
    }
}

/// Runs the request, renders its problem if it has one, and adds the request id.
pub(crate) async fn finish_response(
    State(ids): State<RequestIds>,
    request: Request,
    next: Next,
) -> Response {
    let id = ids.next_id();
    let method = request.method().clone();
    let has_body = request.body().size_hint().exact() != Some(0);
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        tracing::debug!(%id, %method, status = %response.status(), "request refused");
        // Headers of inner layers stay, for example Allow and CORS.
        let mut inner = std::mem::take(response.headers_mut());
        inner.remove(CONTENT_LENGTH);
        response = problem.render(&id);
        for (name, value) in inner {
            if let Some(name) = name.filter(|name| !response.headers().contains_key(name)) {
                response.headers_mut().insert(name, value);
            }
        }
    }
    if has_body && may_leave_body_unread(response.status()) {
        // The unread rest of the body is still on the connection, so no further request can use it.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID.clone(), value);
    }
    response
}

/// True for statuses that may be sent before the request body was read.
fn may_leave_body_unread(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::TOO_MANY_REQUESTS
    )
}
