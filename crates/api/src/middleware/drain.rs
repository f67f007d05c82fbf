//! A node that was told to stop serves on for a while and says that it goes: it is not ready any more, and
//! every answer is the last one on its connection. So a proxy has time to send requests elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::Next;
use axum::response::Response;

use crate::error::Problem;

/// Whether it was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaving(Arc<AtomicBool>);

impl Leaving {
    /// From now on.
    pub(crate) fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Says so.
pub(crate) async fn tell(State(leaving): State<Leaving>, request: Request, next: Next) -> Response {
    if !leaving.0.load(Ordering::Relaxed) {
        return next.run(request).await;
    }
    let mut response = if request.uri().path() == "/health/ready" {
        Problem::unavailable("this node is about to stop").render("leaving")
    } else {
        next.run(request).await
    };
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
