//! Where connections come from.

use std::path::PathBuf;

use sql::Connection;

use crate::error::StoreError;
#[cfg(feature = "scaled")]
use crate::postgres::Server;
use crate::sqlite;

/// A file of this machine, or a server.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    File(PathBuf),
    #[cfg(feature = "scaled")]
    Server(Server),
}

impl Source {
    /// A connection for reading.
    pub(crate) fn reader(&self) -> Result<Connection, StoreError> {
        match self {
            Self::File(file) => sqlite::reader(file),
            #[cfg(feature = "scaled")]
            Self::Server(server) => server.open(),
        }
    }

    /// Another connection in the place of a writer's that was lost. A file's never is.
    pub(crate) fn reopen_writer(&self) -> Result<Option<Connection>, StoreError> {
        match self {
            Self::File(_) => Ok(None),
            #[cfg(feature = "scaled")]
            Self::Server(server) => server.writer().map(Some),
        }
    }

    /// Whether a read takes microseconds, less than handing it to another thread would.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::File(_) => true,
            #[cfg(feature = "scaled")]
            Self::Server(_) => false,
        }
    }
}
