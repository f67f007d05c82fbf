//! A session with Postgres that waits for each answer, as SQLite's connections do.
//!
//! Whoever has the session runs it: its socket is served on a small runtime of its own while an
//! answer is waited for, so a question costs one wake-up and no other thread. Statements whose
//! outcome nobody asks for are sent together with the next question.

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

/// What went wrong, with what Postgres says of it.
pub(super) fn describe_error(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => error.to_string(),
    }
}

/// Whether the session is of no use after this: it is over, or its server is going or is not the one that
/// is written to any more.
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

/// Trouble with the server or the way to it, which no single write is to blame for.
pub(super) fn is_unavailable(error: &tokio_postgres::Error) -> bool {
    let Some(code) = error.code() else { return true };
    // Connections, resources, an operator's hand, the system itself; and what a failover says.
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
