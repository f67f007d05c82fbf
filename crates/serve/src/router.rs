//! Every route, in one function.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use flow::Engine;

use crate::error::Problem;
use crate::metrics::{Requests, measure};
use crate::request_id::{self, RequestIds};
use crate::routes::{
    artifacts, batch, decisions, events, feedback, health, metrics, reactions, reports, turns,
};

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
    let requests = Requests::default();
    let figures = get(metrics::show).with_state((requests.clone(), Arc::clone(&engine)));
    Router::new()
        .merge(events_and_turns(limits))
        .merge(conversations())
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", figures)
        .layer(DefaultBodyLimit::max(limits.body_bytes))
        .fallback(unknown_address)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(RequestIds::new(run), request_id::finish))
        .layer(from_fn_with_state(requests, measure))
        .with_state(engine)
}

/// Ours.
fn events_and_turns(limits: Limits) -> Router<Arc<Engine>> {
    let batch = post(batch::submit).layer(DefaultBodyLimit::max(limits.batch_bytes));
    Router::new()
        .route("/api/v1/feedback", post(feedback::submit))
        .route("/api/v1/feedback/correction", post(feedback::correct))
        .route("/api/v1/feedback/batch", batch)
        .route("/api/v1/feedback/{id}", get(feedback::show))
        .route("/api/v1/events", get(events::list))
        .route("/api/v1/turns", post(turns::open))
        .route("/api/v1/turns/{turn_id}", get(turns::show))
        .route("/api/v1/turns/{turn_id}/complete", post(turns::complete))
        .route("/api/v1/turns/{turn_id}/log", get(turns::log))
        .route("/api/v1/decisions", post(decisions::decide).get(decisions::list))
        .route("/api/v1/decisions/{id}", get(decisions::show).patch(decisions::settle))
        .route("/api/v1/artifacts/search", post(artifacts::search))
}

/// The source system's, letter for letter.
fn conversations() -> Router<Arc<Engine>> {
    Router::new()
        .route(
            "/conversations/{tenant}/{project}/{conversation_id}/turns/{turn_id}/feedback",
            post(reactions::submit),
        )
        .route(
            "/conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks",
            post(reports::conversation).get(reports::conversation_by_query),
        )
        .route(
            "/conversations/{tenant}/{project}/feedback/conversations-in-period",
            post(reports::period).get(reports::period_by_query),
        )
}

async fn unknown_address() -> Problem {
    Problem::not_found("there is nothing at this address")
}

async fn wrong_method(request: Request) -> Response {
    Problem::wrong_method(format!("{} is not possible here", request.method())).into_response()
}
