//! Errors of both databases.

#[cfg(feature = "postgres")]
use tokio_postgres::error::{DbError, Severity, SqlState};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the query returned no row")]
    NoRows,
    /// A column holds an unexpected value.
    #[error("{0}")]
    Unreadable(String),
    #[error("a write panicked")]
    Panicked,
    /// The caller of a read has left.
    #[error("the read was cancelled")]
    Cancelled,
    #[error(transparent)]
    Sqlite(rusqlite::Error),
    #[cfg(feature = "postgres")]
    #[error("{}", describe_error(.0))]
    Postgres(tokio_postgres::Error),
    #[cfg(feature = "postgres")]
    #[error("the database does not answer: {0}")]
    Away(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        // Other errors keep SQLite's own message.
        if matches!(error, rusqlite::Error::QueryReturnedNoRows) {
            return Self::NoRows;
        }
        Self::Sqlite(error)
    }
}

impl Error {
    /// True for errors of the disk, the file or the server, which no single write causes.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::NoRows | Self::Unreadable(_) | Self::Panicked | Self::Cancelled => false,
            Self::Sqlite(error) => is_trouble_of_sqlite(error),
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => is_trouble_of_postgres(error),
            #[cfg(feature = "postgres")]
            Self::Away(_) => true,
        }
    }

    /// True when the stored data is the cause, so a retry fails too.
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::NoRows | Self::Unreadable(_) => true,
            Self::Panicked | Self::Cancelled => false,
            Self::Sqlite(error) => error.sqlite_error_code().is_none(),
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => error.as_db_error().is_none() && !error.is_closed(),
            #[cfg(feature = "postgres")]
            Self::Away(_) => false,
        }
    }
}

fn is_trouble_of_sqlite(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::OutOfMemory
        )
    )
}

/// The message and SQLSTATE of a Postgres error.
#[cfg(feature = "postgres")]
fn describe_error(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => error.to_string(),
    }
}

/// True when the session is unusable: closed, shutting down, or no longer on the primary.
#[cfg(feature = "postgres")]
pub(super) fn ends_session(error: &DbError) -> bool {
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
#[cfg(feature = "postgres")]
fn is_trouble_of_postgres(error: &tokio_postgres::Error) -> bool {
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
