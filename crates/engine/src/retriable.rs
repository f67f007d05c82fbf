//! Logs store errors of operations that are retried, by a background task or by the client.
//!
//! Not for errors of a bucket or a broker: no other component logs that those are unavailable.

use std::error::Error as _;

use crate::error::EngineError;

/// Logs a retriable store error. An outage is logged at debug level, because the store warns
/// about it once.
pub fn log_retriable(error: impl Into<EngineError>, what: &'static str) {
    let error = error.into();
    // The cause is more specific than "the store did not answer".
    let cause = error.source().unwrap_or(&error);
    match error.is_unavailable() {
        true => tracing::debug!(error = %cause, "{what}"),
        false => tracing::warn!(error = %cause, "{what}"),
    }
}
