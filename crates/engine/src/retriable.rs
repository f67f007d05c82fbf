//! What is said when the store did not do something that is tried again, by us or by whoever sent it.
//!
//! Not for what a bucket or a broker could not do: nobody else says that those are away.

use std::error::Error as _;

use crate::error::FlowError;

/// Says why. That the store is away it says itself, once and not for everybody who misses it.
pub fn log_retriable(error: impl Into<FlowError>, what: &'static str) {
    let error = error.into();
    // The cause says more than that the store did not answer.
    let cause = error.source().unwrap_or(&error);
    match error.is_away() {
        true => tracing::debug!(error = %cause, "{what}"),
        false => tracing::warn!(error = %cause, "{what}"),
    }
}
