//! Store errors, divided by what the caller can do.

use std::path::PathBuf;
use std::pin::Pin;

/// A boxed future of a store call.
pub type Task<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The write queue is full. Retry shortly.
    #[error("the write queue is full; retry")]
    Busy,
    /// A tenant has the maximum of waiting reports.
    #[error("too many reports of this tenant are waiting; retry later")]
    TooManyReads,
    /// A report waited too long for a connection.
    #[error("no connection for the report became free in time; retry later")]
    ReadTimeout,
    /// The disk or the database is unavailable. Nothing was changed.
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),
    /// The connection broke during a commit, so its outcome is unknown.
    #[error("the outcome of the commit is unknown: {0}")]
    InDoubt(String),
    #[error("the store is closed")]
    Closed,
    #[error("there is no store in {}", folder.display())]
    NoStore { folder: PathBuf },
    #[error("the data folder {} is in use by another uptake process{}", folder.display(), holder_text(holder.as_deref()))]
    Locked {
        folder: PathBuf,
        /// The owner's entry in the lock file.
        holder: Option<String>,
    },
    #[error("the store has schema {found}, this program knows up to {known}; use a newer uptake")]
    NewerSchema { found: u32, known: u32 },
    /// A store cannot be migrated to another database, or its migration is incomplete.
    #[cfg(feature = "scaled")]
    #[error("{0}")]
    Migration(String),
    /// A backup cannot be made or cannot be restored.
    #[error("{0}")]
    Backup(String),
    /// A row in the database is unreadable.
    #[error("unreadable data in the store: {0}")]
    Corrupt(String),
    #[error("cannot use the data folder {}", folder.display())]
    Folder {
        folder: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    #[error("database error")]
    Database(#[from] sql::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.into())
    }
}

impl StoreError {
    /// True when the write may have been stored despite the error.
    pub fn is_in_doubt(&self) -> bool {
        matches!(self, Self::InDoubt(_))
    }

    /// True when the disk or the database is unavailable. The store logs an outage once.
    pub fn is_away(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::InDoubt(_) => true,
            Self::Database(error) => error.is_unavailable(),
            #[cfg(feature = "scaled")]
            Self::Migration(_) => false,
            Self::Busy
            | Self::TooManyReads
            | Self::ReadTimeout
            | Self::Closed
            | Self::NoStore { .. }
            | Self::Locked { .. }
            | Self::NewerSchema { .. }
            | Self::Corrupt(_)
            | Self::Backup(_)
            | Self::Folder { .. } => false,
        }
    }

    /// True when a retry returns the same error, because the stored data is the cause.
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::Corrupt(_) | Self::Backup(_) => true,
            #[cfg(feature = "scaled")]
            Self::Migration(_) => true,
            Self::Database(error) => error.is_lasting(),
            Self::Busy
            | Self::TooManyReads
            | Self::ReadTimeout
            | Self::Unavailable(_)
            | Self::InDoubt(_)
            | Self::Closed
            | Self::NoStore { .. }
            | Self::Locked { .. }
            | Self::NewerSchema { .. }
            | Self::Folder { .. } => false,
        }
    }
}

fn holder_text(holder: Option<&str>) -> String {
    holder.map(|text| format!(" ({text})")).unwrap_or_default()
}
