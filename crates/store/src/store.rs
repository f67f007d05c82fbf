//! The store: one writer thread and a pool of readers, on a SQLite file or on Postgres.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Outcome, Position, Tenant, Timestamp, Write};
use sql::Connection;
use tokio::sync::watch;

use crate::connection_source::Source;
use crate::error::{StoreError, Task};
use crate::log::Limits;
use crate::log::writer::Writer;
use crate::maintenance::checkpoint::Checkpointer;
use crate::maintenance::folder_lock::FolderLock;
use crate::maintenance::{backup, migrations, retention, tenant_removal};
use crate::metrics::LogStats;
#[cfg(feature = "scaled")]
use crate::postgres::Server;
#[cfg(feature = "scaled")]
use crate::postgres::follower::Follower;
use crate::projections::baseline;
use crate::projections::rebuild::{self, Rebuild, Rebuilt};
use crate::read_pool::ReadPool;
use crate::{meta, similarity, sqlite};

/// A store in a local folder, or in a Postgres database that several nodes share.
pub struct Store {
    pub(crate) writer: Writer,
    pub(crate) indexes: Arc<similarity::SimilarityIndexes>,
    // Dropping them stops their threads.
    _loader: similarity::Loader,
    pub(crate) engine: Engine,
    pub(crate) pool: ReadPool,
    seal_key: [u8; 32],
}

/// The parts that only one of the databases needs.
pub(crate) enum Engine {
    Sqlite {
        checkpointer: Mutex<Option<Checkpointer>>,
        folder: FolderLock,
    },
    #[cfg(feature = "scaled")]
    Postgres {
        follower: Follower,
        folder: FolderLock,
    },
}

impl Store {
    /// Locks the folder, creates or migrates its database, and starts the writer. A new store takes
    /// `fresh_seal_key` as its key.
    pub fn open(
        folder: &Path,
        limits: Limits,
        fresh_seal_key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let lock = FolderLock::acquire(folder)?;
        let file = folder.join("uptake.db");
        backup::reject_partial_restore(&file)?;
        let mut connection = sqlite::writer(&file)?;
        let touched = similarity::Touched::listen(&mut connection)?;
        let mut connection = Connection::Sqlite(connection);
        migrations::migrate_to_newest(&mut connection)?;
        let seal_key = meta::seal_key(&connection, fresh_seal_key)?;
        let source = Source::File(file.clone());
        let pool = ReadPool::open(&source, limits.readers)?;
        let indexes = Arc::new(similarity::SimilarityIndexes::new());
        let index = Arc::clone(&indexes);
        let writer = Writer::start(connection, source.clone(), limits, touched, index)?;
        let loader = similarity::Loader::start(&source, Arc::clone(&indexes))?;
        let checkpointer = Checkpointer::start(&file, writer.watch())?;
        let engine = Engine::Sqlite { checkpointer: Mutex::new(Some(checkpointer)), folder: lock };
        Ok(Self { writer, indexes, _loader: loader, engine, pool, seal_key })
    }

    /// Sets whether a commit waits for fsync (the default). Without fsync a crash loses the newest
    /// commits, but the file stays consistent. Use it for data that can be loaded again.
    pub async fn wait_for_disk(&self, wait: bool) -> Result<(), StoreError> {
        self.writer.run(move |connection| sqlite::wait_for_disk(connection, wait)).await
    }

    /// Locks the folder, connects to a Postgres database, creates or migrates its tables, and
    /// starts the writer. The folder holds only the lock. A new store takes `fresh_seal_key` as its
    /// key.
    #[cfg(feature = "scaled")]
    pub fn connect(
        folder: &Path,
        address: &str,
        limits: Limits,
        fresh_seal_key: [u8; 32],
    ) -> Result<Self, StoreError> {
        // On a thread of its own, because connecting blocks and the caller may run on an async
        // runtime.
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
        let folder = FolderLock::acquire(folder)?;
        let server = Server::parse(address)?;
        let mut connection = server.writer()?;
        crate::postgres::migrate_to_newest(&mut connection)?;
        let seal_key = meta::seal_key(&connection, fresh_seal_key)?;
        let source = Source::Server(server.clone());
        let pool = ReadPool::open(&source, limits.readers)?;
        let indexes = Arc::new(similarity::SimilarityIndexes::new());
        let touched = similarity::Touched::from_now(&connection)?;
        let index = Arc::clone(&indexes);
        let writer = Writer::start(connection, source.clone(), limits, touched, index)?;
        let loader = similarity::Loader::start(&source, Arc::clone(&indexes))?;
        let queue = writer.weak_queue().ok_or(StoreError::Closed)?;
        let notify = move |head| Writer::notify_foreign_head(&queue, head);
        let months = crate::postgres::PartitionMaker::hourly();
        let follower = Follower::start(server, months, writer.watch(), notify)?;
        let engine = Engine::Postgres { follower, folder };
        Ok(Self { writer, indexes, _loader: loader, engine, pool, seal_key })
    }

    /// Publishes the server's address to other processes of the folder's owner.
    pub fn announce(&self, url: &str, token: &str, yields: bool) -> Result<(), StoreError> {
        match &self.engine {
            Engine::Sqlite { folder, .. } => folder.announce(url, token, yields),
            #[cfg(feature = "scaled")]
            Engine::Postgres { folder, .. } => folder.announce(url, token, yields),
        }
    }
}

impl Store {
    /// Checks and stores each write, all in one transaction. Returns one outcome per write, in
    /// order, when the transaction is on disk.
    pub fn commit(&self, writes: Vec<Write>) -> Task<'_, Vec<Outcome>> {
        // Queued now, not when first polled: the order of calls is the order of the log.
        let queued = self.writer.submit(writes);
        Box::pin(async move { queued?.await.map_err(|_| StoreError::Closed)? })
    }

    /// The position of the newest event; 0 when the log is empty.
    pub fn head(&self) -> Position {
        *self.writer.watch().borrow()
    }

    /// Notifies when the head moves.
    pub fn watch(&self) -> watch::Receiver<Position> {
        self.writer.watch()
    }

    /// True when other processes may write to the same database.
    pub fn is_shared(&self) -> bool {
        match &self.engine {
            Engine::Sqlite { .. } => false,
            #[cfg(feature = "scaled")]
            Engine::Postgres { .. } => true,
        }
    }

    /// True when the log became shorter, as after a failover that lost commits. State derived from
    /// the log is then invalid.
    pub fn went_back(&self) -> bool {
        match &self.engine {
            Engine::Sqlite { .. } => false,
            #[cfg(feature = "scaled")]
            Engine::Postgres { follower, .. } => follower.went_back(),
        }
    }

    /// Rebuilds every projection from the log in one transaction. Writes wait meanwhile.
    pub fn rebuild(&self, how: Rebuild) -> Task<'_, Rebuilt> {
        Box::pin(self.writer.run(move |connection| rebuild::rebuild(connection, &how)))
    }

    /// True when the projections are older than this program and must be rebuilt before they are
    /// read.
    pub fn is_stale(&self) -> Task<'_, bool> {
        self.pool.run(meta::is_stale)
    }

    /// True when a write would succeed. After a failed commit it performs a test write.
    pub fn is_ready(&self) -> Task<'_, bool> {
        Box::pin(async {
            let may_write = match self.writer.is_well() {
                // A remote database may be down although no write has failed yet.
                true => self.pool.run_short(answers).await.is_ok(),
                false => {
                    let tried = self.writer.run(try_to_write).await;
                    if tried.is_ok() {
                        self.writer.was_tried();
                    }
                    tried.is_ok()
                }
            };
            Ok(may_write)
        })
    }

    pub fn stats(&self) -> LogStats {
        self.writer.stats()
    }

    /// The store's random key, created with the store.
    pub fn seal_key(&self) -> [u8; 32] {
        self.seal_key
    }

    /// Commits queued writes, then rejects new ones.
    pub fn close(&self) -> Task<'_, ()> {
        match &self.engine {
            // First, so that the writer closes the file last and SQLite removes the WAL.
            Engine::Sqlite { checkpointer, .. } => {
                checkpointer.lock().unwrap_or_else(PoisonError::into_inner).take();
            }
            #[cfg(feature = "scaled")]
            Engine::Postgres { .. } => {}
        }
        Box::pin(self.writer.close())
    }
}

impl Store {
    /// A batch of a tenant's events that arrived before a time, up to a position (`None`:
    /// anywhere). An empty batch means that nothing is left to drop.
    ///
    /// The cost does not grow with the log. In a very long log, an event stored long after its
    /// arrival may be found only when its neighbours are old too.
    pub fn old_events(
        &self,
        tenant: &Tenant,
        before: Timestamp,
        upto: Option<Position>,
    ) -> Task<'_, Vec<Position>> {
        let tenant = tenant.clone();
        self.pool.run(move |connection| retention::old_events(connection, &tenant, before, upto))
    }

    /// Copies the projections as the baseline for rebuilds. Returns their position.
    pub fn copy_projections(&self) -> Task<'_, Position> {
        Box::pin(self.writer.run(baseline::copy_projections))
    }

    /// Drops events. Returns how many existed.
    pub fn drop_events(&self, positions: Vec<Position>) -> Task<'_, usize> {
        let drop = move |connection: &mut _| retention::drop_events(connection, &positions);
        Box::pin(self.writer.run(drop))
    }

    /// Removes a tenant's events, projections and used ids, but not its API keys. Returns the
    /// number of events.
    pub fn remove_tenant(&self, tenant: &Tenant) -> Task<'_, usize> {
        let (tenant, similar) = (tenant.clone(), Arc::clone(&self.indexes));
        let removal =
            move |connection: &mut _| tenant_removal::remove_tenant(connection, &tenant, &similar);
        Box::pin(self.writer.run(removal))
    }
}

fn answers(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.prepare_cached("SELECT 1")?.query_row((), |_| Ok(()))?)
}

/// Writes and deletes as much as an ordinary group. A nearly full disk is not ready.
fn try_to_write(connection: &mut Connection) -> Result<(), StoreError> {
    let much = vec![0_u8; 1 << 18];
    connection.execute("REPLACE INTO meta (name, value) VALUES ('try', ?1)", [&much])?;
    connection.execute("DELETE FROM meta WHERE name = 'try'", ())?;
    Ok(())
}
