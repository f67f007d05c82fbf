//! What a database says when it does not do what it was asked.

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A row that must be there is not.
    #[error("nothing was found")]
    NoRows,
    /// A value is not what it must be.
    #[error("{0}")]
    Unreadable(String),
    /// The program itself failed in the middle of a statement.
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

/// What came of a statement.
pub type Result<T> = std::result::Result<T, Error>;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        // Named one by one where it matters; all else is SQLite's to explain.
        if matches!(error, rusqlite::Error::QueryReturnedNoRows) {
            return Self::NoRows;
        }
        Self::Sqlite(error)
    }
}

impl Error {
    /// Trouble with the disk, the file or the server, which no single write is to blame for.
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

    /// Whether what is stored is to blame and not the moment.
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

/// Nothing found is an answer too.
pub trait OptionalExtension<T> {
    /// `None` when there is no such row.
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
