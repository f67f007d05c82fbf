//! The default backend: one SQLite file, one writer thread, a pool of readers.

mod append;
mod connect;
mod events;
mod folder;
mod keys;
mod migrate;
mod pool;
mod writer;

use std::path::Path;

use event::{EventId, Outcome, Position, Scope, Write};

use crate::error::StoreError;
use crate::log::{Log, Task};
use crate::read::events::{EventPage, EventReads, StoredEvent};

/// How much the store may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of writes that may wait for the disk; beyond that callers are told to come back.
    pub queue_bytes: usize,
    /// Writes that share one commit at the most.
    pub group_writes: usize,
    /// Connections for reading.
    pub readers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { queue_bytes: 64 << 20, group_writes: 1024, readers: 4 }
    }
}

/// A store in one folder of this machine.
pub struct SqliteStore {
    writer: writer::Writer,
    pool: pool::ReadPool,
    seal_key: [u8; 32],
    _folder: folder::FolderLock,
}

impl SqliteStore {
    /// Takes the folder for this process, creates or migrates the database in it, and starts the
    /// writer. `fresh_seal_key` becomes the store's key if it is new.
    pub fn open(
        folder: &Path,
        limits: Limits,
        fresh_seal_key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let lock = folder::FolderLock::take(folder)?;
        let file = folder.join("uptake.db");
        let mut connection = connect::writer(&file)?;
        migrate::to_newest(&mut connection)?;
        let seal_key = migrate::seal_key(&connection, fresh_seal_key)?;
        let pool = pool::ReadPool::open(&file, limits.readers)?;
        let writer = writer::Writer::start(connection, limits)?;
        Ok(Self { writer, pool, seal_key, _folder: lock })
    }
}

impl Log for SqliteStore {
    fn commit(&self, writes: Vec<Write>) -> Task<'_, Vec<Outcome>> {
        // Queued now, not when first polled: the order of calls is the order of the log.
        let queued = self.writer.submit(writes);
        Box::pin(async move { queued?.await.map_err(|_| StoreError::Closed)? })
    }

    fn head(&self) -> Position {
        self.writer.head()
    }

    fn seal_key(&self) -> [u8; 32] {
        self.seal_key
    }

    fn close(&self) -> Task<'_, ()> {
        Box::pin(self.writer.close())
    }
}

impl EventReads for SqliteStore {
    fn event(&self, scope: &Scope, id: &EventId) -> Task<'_, Option<StoredEvent>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run(move |connection| events::by_id(connection, &scope, &id))
    }

    fn events(&self, page: EventPage) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| events::page(connection, &page))
    }
}

#[cfg(test)]
mod tests;
