//! Handlers, one file per resource.

pub(crate) mod feedback;
pub(crate) mod batch;
pub(crate) mod events;
pub(crate) mod turns;
pub(crate) mod conversations;
pub(crate) mod strategies;
pub(crate) mod examples;
pub(crate) mod preferences;
pub(crate) mod routers;
pub(crate) mod experiments;
pub(crate) mod retrieval;
pub(crate) mod reactions;
pub(crate) mod decisions;
pub(crate) mod reports;
pub(crate) mod quality;
pub(crate) mod failures;
pub(crate) mod artifacts;
pub(crate) mod keys;
pub(crate) mod tenants;
pub(crate) mod operations;

use axum::http::StatusCode;

/// 200 for a request that was stored before, 201 otherwise.
fn stored_status(replayed: bool) -> StatusCode {
    if replayed { StatusCode::OK } else { StatusCode::CREATED }
}
