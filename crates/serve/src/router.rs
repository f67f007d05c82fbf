//! Every route, in one function.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use flow::Engine;

use crate::error::Problem;
use crate::request_id::{self, RequestIds};
use crate::routes::{batch, events, feedback, health};

/// How much one request may bring.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of an ordinary body.
    pub body_bytes: usize,
    /// Bytes of a batch.
    pub batch_bytes: usize,
}

/// The whole API. `run` tells this run of the server from others in request ids.
pub fn router(engine: Arc<Engine>, limits: Limits, run: &str) -> Router {
    Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/api/v1/feedback", post(feedback::submit))
        .route("/api/v1/feedback/correction", post(feedback::correct))
        .route(
            "/api/v1/feedback/batch",
            post(batch::submit).layer(DefaultBodyLimit::max(limits.batch_bytes)),
        )
        .route("/api/v1/feedback/{id}", get(feedback::show))
        .route("/api/v1/events", get(events::list))
        .layer(DefaultBodyLimit::max(limits.body_bytes))
        .fallback(unknown_address)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(RequestIds::new(run), request_id::finish))
        .with_state(engine)
}

async fn unknown_address() -> Problem {
    Problem::not_found("there is nothing at this address")
}

async fn wrong_method(request: Request) -> Response {
    Problem::wrong_method(format!("{} is not possible here", request.method())).into_response()
}
