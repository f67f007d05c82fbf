//! The log of a store that another process may own.

use std::path::Path;

use model::Position;

use crate::connection_source::Source;
use crate::error::{StoreError, Task};
use crate::event_rows::{self, StoredEvent};
use crate::maintenance::migrations;
use crate::{read_pool, sqlite};

/// A log opened for reading only. Another process may own the store.
pub struct ReadOnlyLog {
    pub(crate) pool: read_pool::ReadPool,
}

impl ReadOnlyLog {
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join("uptake.db");
        if !file.exists() {
            return Err(StoreError::NoStore { folder: folder.to_owned() });
        }
        let pool = read_pool::ReadPool::open(&Source::File(file.clone()), 1)?;
        migrations::check_reader(&sqlite::reader(&file)?)?;
        Ok(Self { pool })
    }

    #[cfg(feature = "scaled")]
    pub fn connect(address: &str) -> Result<Self, StoreError> {
        let server = crate::postgres::Server::parse(address)?;
        let open = || {
            crate::postgres::check(&server.open()?)?;
            read_pool::ReadPool::open(&Source::Server(server), 1)
        };
        let opened = std::thread::scope(|scope| scope.spawn(open).join());
        let panicked = |_| Err(StoreError::Unavailable("connecting panicked".into()));
        Ok(Self { pool: opened.unwrap_or_else(panicked)? })
    }

    /// The position of the newest event.
    pub fn head(&self) -> Task<'_, Position> {
        self.pool.run(event_rows::newest_position)
    }

    /// Events of every scope after a position, in log order.
    pub fn tail(&self, after: Position, limit: usize) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| event_rows::read_tail(connection, after, limit))
    }
}
