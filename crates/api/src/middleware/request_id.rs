//! Gives every request an id, and every error its body.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::error::Problem;

static HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Counts requests, so that a line in the log and an answer can be brought together.
#[derive(Clone, Debug)]
pub(crate) struct RequestIds {
    run: Arc<str>,
    count: Arc<AtomicU64>,
}

impl RequestIds {
    /// `run` tells one run of the server from the next.
    pub(crate) fn new(run: &str) -> Self {
        Self { run: run.into(), count: Arc::default() }
    }

    fn next_id(&self) -> String {
        format!("{}-{:x}", self.run, self.count.fetch_add(1, Ordering::Relaxed))
    }
}

/// Runs the request and finishes the answer.
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
        tracing::debug!(%id, %method, status = %response.status(), "refused");
        // What others said about the answer stays: its methods, who may read it.
        let mut said = std::mem::take(response.headers_mut());
        said.remove(CONTENT_LENGTH);
        response = problem.render(&id);
        for (name, value) in said {
            if let Some(name) = name.filter(|name| !response.headers().contains_key(name)) {
                response.headers_mut().insert(name, value);
            }
        }
    }
    if has_body && may_leave_body_unread(response.status()) {
        // What was not read is still on the line: the next request needs another one, and a client
        // that is not told so would send it into the void.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HEADER.clone(), value);
    }
    response
}

/// Whether an answer may have been given before the body was read.
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
