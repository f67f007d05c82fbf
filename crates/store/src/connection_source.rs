//! Opens connections to the SQLite file or the Postgres server.

use std::path::PathBuf;

use sql::Connection;

use crate::error::StoreError;
#[cfg(feature = "scaled")]
use crate::postgres::Server;
use crate::sqlite;

/// The planner settings of a connection depend on its purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Lookup,
    Report,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    File(PathBuf),
    #[cfg(feature = "scaled")]
    Server(Server),
}

impl Source {
    #[cfg_attr(
        not(feature = "scaled"),
        expect(unused_variables, reason = "only Postgres has planner settings")
    )]
    pub(crate) fn reader(&self, purpose: Purpose) -> Result<Connection, StoreError> {
        match self {
            Self::File(file) => sqlite::reader(file),
            #[cfg(feature = "scaled")]
            Self::Server(server) => match purpose {
                Purpose::Lookup => server.lookup_reader(),
                Purpose::Report => server.open(),
            },
        }
    }

    /// Opens a connection to replace a lost writer connection. A SQLite connection is never lost.
    pub(crate) fn reopen_writer(&self) -> Result<Option<Connection>, StoreError> {
        match self {
            Self::File(_) => Ok(None),
            #[cfg(feature = "scaled")]
            Self::Server(server) => server.writer().map(Some),
        }
    }

    /// True when a read takes microseconds, less than handing it to another thread.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::File(_) => true,
            #[cfg(feature = "scaled")]
            Self::Server(_) => false,
        }
    }
}
