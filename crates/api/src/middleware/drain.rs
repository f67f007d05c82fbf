//! Draining: a node about to stop keeps serving, reports not ready and closes each connection
//! after its response. A load balancer gets time to send requests to other nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::Next;
use axum::response::Response;

use super::trailing_newline::add_trailing_newline;
use crate::error::Problem;

/// True once draining has started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drain(Arc<AtomicBool>);

impl Drain {
    pub(crate) fn start(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) async fn close_when_draining(
    State(drain): State<Drain>,
    request: Request,
    next: Next,
) -> Response {
    if !drain.0.load(Ordering::Relaxed) {
        return next.run(request).await;
    }
    let mut response = if request.uri().path() == "/health/ready" {
        let problem = Problem::unavailable("this node is draining and stops soon");
        add_trailing_newline(problem.render("draining")).await
    } else {
        next.run(request).await
    };
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
