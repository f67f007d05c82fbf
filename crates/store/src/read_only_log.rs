//! The log of a store that another process may own.

use std::path::Path;

use model::Position;

use super::source::Source;
use super::{connect, events, migrate, pool};
use crate::error::StoreError;
use crate::log::Task;
use crate::read::events::StoredEvent;

/// The log of a store that another process may own, for reading only.
pub struct SqlLog {
    pub(super) pool: pool::ReadPool,
}

impl SqlLog {
    /// Opens the database that is in this folder.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join("uptake.db");
        if !file.exists() {
            return Err(StoreError::NoStore { folder: folder.to_owned() });
        }
        let pool = pool::ReadPool::open(&Source::File(file.clone()), 1)?;
        migrate::check_reader(&connect::reader(&file)?)?;
        Ok(Self { pool })
    }

    /// The same of a Postgres database.
    #[cfg(feature = "scaled")]
    pub fn connect(address: &str) -> Result<Self, StoreError> {
        let server = crate::postgres::Server::at(address)?;
        let open = || {
            crate::postgres::check(&server.open()?)?;
            pool::ReadPool::open(&Source::Server(server), 1)
        };
        let opened = std::thread::scope(|scope| scope.spawn(open).join());
        let panicked = |_| Err(StoreError::Unavailable("connecting panicked".into()));
        Ok(Self { pool: opened.unwrap_or_else(panicked)? })
    }

    /// The position of the newest event, and a way through all of them.
    pub fn head(&self) -> Task<'_, Position> {
        self.pool.run(events::newest)
    }

    /// The log of every scope behind a position, in order.
    pub fn tail(&self, after: Position, limit: usize) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| events::tail(connection, after, limit))
    }
}
