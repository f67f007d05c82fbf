//! The tables of a store, in one SQLite file or in Postgres: one writer thread, a pool of readers.
//! The statements are the same for both (`sql` says how).

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

/// A store in one folder of this machine, or in a Postgres that several share.
pub struct Store {
    pub(crate) writer: Writer,
    pub(crate) indexes: Arc<similarity::SimilarityIndexes>,
    // They stop their threads when the store goes.
    _loader: similarity::Loader,
    pub(crate) engine: Engine,
    pub(crate) pool: ReadPool,
    seal_key: [u8; 32],
}

/// What only one of the databases needs.
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
    /// Takes the folder for this process, creates or migrates the database in it, and starts the
    /// writer. `fresh_seal_key` becomes the store's key if it is new.
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

    /// Whether a commit is on disk before it is answered, which is so unless somebody says otherwise: who
    /// fills a store with what can be made again need not wait. The file stays whole either way, and what
    /// is on disk is always a beginning of what was committed.
    pub async fn wait_for_disk(&self, wait: bool) -> Result<(), StoreError> {
        self.writer.run(move |connection| sqlite::wait_for_disk(connection, wait)).await
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
        self.pool.run(meta::is_stale)
    }

    /// Whether something could be stored now. After trouble it tries.
    pub fn is_ready(&self) -> Task<'_, bool> {
        Box::pin(async {
            let may_write = match self.writer.is_well() {
                // A database elsewhere may be away without anybody having tried to write.
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

impl Store {
    /// Some of a tenant's events that arrived before a moment and stand up to a position, `None` for
    /// wherever they stand; none means that there are no more to drop now. How long it looks does not grow
    /// with the log: in a very long one, an event that was stored long after it arrived may be found only
    /// when those that were stored with it are as old.
    pub fn old_events(
        &self,
        tenant: &Tenant,
        before: Timestamp,
        upto: Option<Position>,
    ) -> Task<'_, Vec<Position>> {
        let tenant = tenant.clone();
        self.pool.run(move |connection| retention::old_events(connection, &tenant, before, upto))
    }

    /// Copies the projections for rebuilds to start from; answers the position they are of.
    pub fn copy_projections(&self) -> Task<'_, Position> {
        Box::pin(self.writer.run(baseline::copy_projections))
    }

    /// Drops events; answers how many of them were still there.
    pub fn drop_events(&self, positions: Vec<Position>) -> Task<'_, usize> {
        let drop = move |connection: &mut _| retention::drop_events(connection, &positions);
        Box::pin(self.writer.run(drop))
    }

    /// Removes everything of a tenant: events, what followed from them, and used-up ids, but not its keys.
    /// Answers how many events there were.
    pub fn remove_tenant(&self, tenant: &Tenant) -> Task<'_, usize> {
        let (tenant, similar) = (tenant.clone(), Arc::clone(&self.indexes));
        let removal =
            move |connection: &mut _| tenant_removal::remove_tenant(connection, &tenant, &similar);
        Box::pin(self.writer.run(removal))
    }
}

/// Whether the database is there.
fn answers(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.prepare_cached("SELECT 1")?.query_row((), |_| Ok(()))?)
}

/// Writes something as large as an ordinary group and takes it back, to see whether that is
/// possible: a little room is not enough to call a store ready.
fn try_to_write(connection: &mut Connection) -> Result<(), StoreError> {
    let much = vec![0_u8; 1 << 18];
    connection.execute("REPLACE INTO meta (name, value) VALUES ('try', ?1)", [&much])?;
    connection.execute("DELETE FROM meta WHERE name = 'try'", ())?;
    Ok(())
}
