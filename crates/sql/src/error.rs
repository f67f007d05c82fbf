//! Errors of both databases.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the query returned no row")]
    NoRows,
    /// A column holds an unexpected value.
    #[error("{0}")]
    Unreadable(String),
    #[error("a write panicked")]
    Panicked,
    #[error(transparent)]
    Sqlite(rusqlite::Error),
    #[cfg(feature = "postgres")]
    #[error("{}", super::postgres::describe_error(.0))]
    Postgres(tokio_postgres::Error),
    #[cfg(feature = "postgres")]
    #[error("the database does not answer: {0}")]
    Away(String),
}

pub type Result<T> = std::result::Result<T, Error>;

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
            Self::NoRows | Self::Unreadable(_) | Self::Panicked => false,
            Self::Sqlite(error) => is_trouble_of_sqlite(error),
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => super::postgres::is_unavailable(error),
            #[cfg(feature = "postgres")]
            Self::Away(_) => true,
        }
    }

    /// True when the stored data is the cause, so a retry fails too.
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::NoRows | Self::Unreadable(_) => true,
            Self::Panicked => false,
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

/// Turns a missing row into `None`.
pub trait OptionalExtension<T> {
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(found) => Ok(Some(found)),
            Err(Error::NoRows) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
