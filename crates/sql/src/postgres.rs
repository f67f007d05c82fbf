//! Blocking sessions with Postgres.
//!
//! The calling thread drives the socket on a runtime of its own while it waits, so a query costs
//! one wake-up and no other thread. Statements without a result are queued and sent with the next
//! query.

mod column;
mod keys;
mod memory;
mod numeric;
mod pending;
mod session;
mod value;

pub(crate) use session::Prepared;
pub use session::{Question, Session};
pub(super) use value::value;

use tokio_postgres::error::{DbError, Severity, SqlState};

/// The message and SQLSTATE of a Postgres error.
pub(super) fn describe_error(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => error.to_string(),
    }
}

/// True when the session is unusable: closed, shutting down, or no longer on the primary.
fn ends_session(error: &DbError) -> bool {
    let is_over = matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    is_over
        || [
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
        ]
        .contains(error.code())
}

/// True for errors of the server or the connection, which no single write causes.
pub(super) fn is_unavailable(error: &tokio_postgres::Error) -> bool {
    let Some(code) = error.code() else { return true };
    // Connection, resource, operator and system errors, and errors of a failover.
    ["08", "53", "57", "58"].iter().any(|class| code.code().starts_with(class))
        || [
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::IN_FAILED_SQL_TRANSACTION,
            SqlState::LOCK_NOT_AVAILABLE,
        ]
        .contains(code)
        || error.as_db_error().is_some_and(ends_session)
}
