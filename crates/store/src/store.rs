//! The tables of a store, in one SQLite file or in Postgres: one writer thread, a pool of readers.
//! The statements are the same for both (`sql` says how).

mod folder;
mod connect;
mod source;
mod migrate;
mod keys;
mod apply;
mod needs;
mod dead_letters;
mod prepared;
mod claims;
mod cursor;
mod append;
#[cfg(feature = "scaled")]
mod ahead;
mod similar;
mod head;
mod ready;
mod outage;
mod writer;
#[cfg(feature = "scaled")]
mod follow;
#[cfg(feature = "scaled")]
mod handover;
mod checkpoint;
mod remove;
mod retain;
mod retention;
mod rebuild;
mod words;
mod pool;
mod events;
mod turns;
mod exchanges;
mod sessions;
mod labels;
mod reactions;
mod period;
mod decisions;
mod copies;
mod api_keys;
mod rules;
mod users;
mod routing;
mod relevance;
mod quality;
mod listed;
mod alerts;
mod experiments;
mod moments;
mod judged;
mod leases;
mod backup;
mod sql_log;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Outcome, Position, Write};
use tokio::sync::watch;

use crate::error::StoreError;
use crate::log::{Rebuild, Rebuilt, Task};
use crate::meter::LogStats;
use source::Source;
use sql::Connection;

#[cfg(feature = "scaled")]
pub(crate) use handover::Handover;
#[cfg(feature = "scaled")]
pub(crate) use rebuild::PROJECTIONS;

pub use backup::{BackupNote, Restored, back_up, restore};
pub use folder::{Holder, ask_for, holder_of, is_wanted};
pub use sql_log::SqlLog;

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

/// A store in one folder of this machine, or in a Postgres that several share.
pub struct Store {
    writer: writer::Writer,
    shelves: Arc<similar::Shelves>,
    // They stop their threads when the store goes.
    _loader: similar::Loader,
    engine: Engine,
    pool: pool::ReadPool,
    seal_key: [u8; 32],
}

/// What only one of the databases needs.
enum Engine {
    Sqlite {
        checkpointer: Mutex<Option<checkpoint::Checkpointer>>,
        folder: folder::FolderLock,
    },
    #[cfg(feature = "scaled")]
    Postgres {
        follower: follow::Follower,
        folder: folder::FolderLock,
    },
}

impl Store {
    /// Takes the folder for this process, creates or migrates the database in it, and starts the
    /// writer. `fresh_seal_key` becomes the store's key if it is new.
    pub fn open(
        folder: &Path,
        limits: Limits,
        fresh_seal_key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let lock = folder::FolderLock::take(folder)?;
        let file = folder.join("uptake.db");
        backup::refuse_half_restored(&file)?;
        let mut connection = connect::writer(&file)?;
        let touched = similar::Touched::listen(&mut connection)?;
        let mut connection = Connection::Sqlite(connection);
        migrate::to_newest(&mut connection)?;
        let seal_key = migrate::seal_key(&connection, fresh_seal_key)?;
        let source = Source::File(file.clone());
        let pool = pool::ReadPool::open(&source, limits.readers)?;
        let shelves = Arc::new(similar::Shelves::new());
        let index = Arc::clone(&shelves);
        let writer = writer::Writer::start(connection, source.clone(), limits, touched, index)?;
        let loader = similar::Loader::start(&source, Arc::clone(&shelves))?;
        let checkpointer = checkpoint::Checkpointer::start(&file, writer.watch())?;
        let engine = Engine::Sqlite { checkpointer: Mutex::new(Some(checkpointer)), folder: lock };
        Ok(Self { writer, shelves, _loader: loader, engine, pool, seal_key })
    }

    /// Whether a commit is on disk before it is answered, which is so unless somebody says otherwise: who
    /// fills a store with what can be made again need not wait. The file stays whole either way, and what
    /// is on disk is always a beginning of what was committed.
    pub async fn wait_for_disk(&self, wait: bool) -> Result<(), StoreError> {
        self.writer.run(move |connection| connect::wait_for_disk(connection, wait)).await
    }

    /// Takes the folder for this process, connects to a Postgres database, creates or migrates the
    /// tables in it, and starts the writer. The folder holds nothing but its lock.
    /// `fresh_seal_key` becomes the store's key if it is new.
    #[cfg(feature = "scaled")]
    pub fn connect(
        folder: &Path,
        address: &str,
        limits: Limits,
        fresh_seal_key: [u8; 32],
    ) -> Result<Self, StoreError> {
        // Away from whatever runs the caller: it must not be kept waiting by somebody's answers.
        let open = || Self::connect_here(folder, address, limits, fresh_seal_key);
        let opened = std::thread::scope(|scope| scope.spawn(open).join());
        opened.unwrap_or_else(|_| Err(StoreError::Unavailable("connecting panicked".into())))
    }

    #[cfg(feature = "scaled")]
    fn connect_here(
        folder: &Path,
        address: &str,
        limits: Limits,
        fresh_seal_key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let folder = folder::FolderLock::take(folder)?;
        let server = crate::postgres::Server::at(address)?;
        let mut connection = server.writer()?;
        crate::postgres::to_newest(&mut connection)?;
        let seal_key = migrate::seal_key(&connection, fresh_seal_key)?;
        let source = Source::Server(server);
        let pool = pool::ReadPool::open(&source, limits.readers)?;
        let shelves = Arc::new(similar::Shelves::new());
        let touched = similar::Touched::from_now(&connection)?;
        let index = Arc::clone(&shelves);
        let writer = writer::Writer::start(connection, source.clone(), limits, touched, index)?;
        let loader = similar::Loader::start(&source, Arc::clone(&shelves))?;
        let queue = writer.weak().ok_or(StoreError::Closed)?;
        let tell = move |head| writer::Writer::look(&queue, head);
        let months = crate::postgres::Months::hourly();
        let follower = follow::Follower::start(source, months, writer.watch(), tell)?;
        let engine = Engine::Postgres { follower, folder };
        Ok(Self { writer, shelves, _loader: loader, engine, pool, seal_key })
    }

    /// Tells other processes of this machine's owner how to reach the server that has the store.
    pub fn announce(&self, url: &str, token: &str, yields: bool) -> Result<(), StoreError> {
        match &self.engine {
            Engine::Sqlite { folder, .. } => folder.announce(url, token, yields),
            #[cfg(feature = "scaled")]
            Engine::Postgres { folder, .. } => folder.announce(url, token, yields),
        }
    }
}

impl Store {
    /// Judges the writes one by one and stores those that may be, all in one transaction. Returns
    /// when that transaction is on disk, with one outcome per write, in order.
    pub fn commit(&self, writes: Vec<Write>) -> Task<'_, Vec<Outcome>> {
        // Queued now, not when first polled: the order of calls is the order of the log.
        let queued = self.writer.submit(writes);
        Box::pin(async move { queued?.await.map_err(|_| StoreError::Closed)? })
    }

    /// The position of the newest event; 0 when there is none.
    pub fn head(&self) -> Position {
        *self.writer.watch().borrow()
    }

    /// Tells when there is something newer.
    pub fn watch(&self) -> watch::Receiver<Position> {
        self.writer.watch()
    }

    /// Whether other processes may write too.
    pub fn is_shared(&self) -> bool {
        match &self.engine {
            Engine::Sqlite { .. } => false,
            #[cfg(feature = "scaled")]
            Engine::Postgres { .. } => true,
        }
    }

    /// Whether the log is shorter than it was: whoever has read it knows what is not so any more.
    pub fn went_back(&self) -> bool {
        match &self.engine {
            Engine::Sqlite { .. } => false,
            #[cfg(feature = "scaled")]
            Engine::Postgres { follower, .. } => follower.went_back(),
        }
    }

    /// Makes every projection again from the log, in one transaction; writes wait meanwhile.
    pub fn rebuild(&self, how: Rebuild) -> Task<'_, Rebuilt> {
        Box::pin(self.writer.run(move |connection| rebuild::rebuild(connection, &how)))
    }

    /// Whether the projections are older than this program and must be made again before they are
    /// read.
    pub fn is_stale(&self) -> Task<'_, bool> {
        self.pool.run(migrate::is_stale)
    }

    /// Whether something could be stored now. After trouble it tries.
    pub fn is_ready(&self) -> Task<'_, bool> {
        Box::pin(async {
            let may_write = match self.writer.is_well() {
                // A database elsewhere may be away without anybody having tried to write.
                true => self.pool.run_short(ready::answers).await.is_ok(),
                false => {
                    let tried = self.writer.run(ready::try_to_write).await;
                    if tried.is_ok() {
                        self.writer.was_tried();
                    }
                    tried.is_ok()
                }
            };
            Ok(may_write)
        })
    }

    /// How it is doing.
    pub fn stats(&self) -> LogStats {
        self.writer.stats()
    }

    /// The store's random key, made when the store was.
    pub fn seal_key(&self) -> [u8; 32] {
        self.seal_key
    }

    /// Finishes and commits what was accepted, then refuses everything else.
    pub fn close(&self) -> Task<'_, ()> {
        match &self.engine {
            // First, so that the writer is the last to close the file and tidies up.
            Engine::Sqlite { checkpointer, .. } => {
                checkpointer.lock().unwrap_or_else(PoisonError::into_inner).take();
            }
            #[cfg(feature = "scaled")]
            Engine::Postgres { .. } => {}
        }
        Box::pin(self.writer.close())
    }
}

#[cfg(test)]
mod tests;
