//! What can go wrong with a store, divided by what the caller can do about it.

use std::path::PathBuf;
use std::pin::Pin;

/// A boxed future of the store.
pub type Task<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Too much is waiting to be written. Try again in a moment.
    #[error("too many writes are waiting")]
    Busy,
    /// The disk or the database cannot be used right now; nothing was changed.
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),
    /// The connection broke while a commit was on its way: nobody knows whether it came to pass.
    #[error("it is not known whether it was stored: {0}")]
    InDoubt(String),
    #[error("the store is closed")]
    Closed,
    #[error("there is no store in {}", folder.display())]
    NoStore { folder: PathBuf },
    #[error("the data folder {} is in use by another uptake process{}", folder.display(), holder_text(holder.as_deref()))]
    Locked {
        folder: PathBuf,
        /// What the lock file says of its owner.
        holder: Option<String>,
    },
    /// The database was written by a newer version of this program.
    #[error("the store has schema {found}, this program knows up to {known}; use a newer uptake")]
    NewerSchema { found: u32, known: u32 },
    /// A store cannot be moved to another database, or has not arrived there.
    #[cfg(feature = "scaled")]
    #[error("{0}")]
    Migration(String),
    /// A backup cannot be made, or is not fit to be restored.
    #[error("{0}")]
    Backup(String),
    /// Something in the database is not as it should be.
    #[error("the store holds something unreadable: {0}")]
    Corrupt(String),
    /// The data folder cannot be created or opened.
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
    /// Whether it may have been stored all the same.
    pub fn is_in_doubt(&self) -> bool {
        matches!(self, Self::InDoubt(_))
    }

    /// Whether the disk or the database is to blame. The store itself says so, once and not for each request.
    pub fn is_away(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::InDoubt(_) => true,
            Self::Database(error) => error.is_unavailable(),
            #[cfg(feature = "scaled")]
            Self::Migration(_) => false,
            Self::Busy
            | Self::Closed
            | Self::NoStore { .. }
            | Self::Locked { .. }
            | Self::NewerSchema { .. }
            | Self::Corrupt(_)
            | Self::Backup(_)
            | Self::Folder { .. } => false,
        }
    }

    /// Whether the same question would be answered the same way again: what is stored is to blame,
    /// not the moment.
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::Corrupt(_) | Self::Backup(_) => true,
            #[cfg(feature = "scaled")]
            Self::Migration(_) => true,
            Self::Database(error) => error.is_lasting(),
            Self::Busy
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
