//! The store: one writer thread and a pool of readers, on a SQLite file or on Postgres.

use std::path::Path;
use std::sync::Arc;

use model::{Outcome, Position, Tenant, Timestamp, Write};
use parking_lot::Mutex;
use sql::Connection;
use tokio::sync::watch;

use crate::background_thread::BackgroundThread;
use crate::connection_source::Source;
use crate::error::{StoreError, Task};
use crate::log::Limits;
use crate::log::own_positions::ForeignRange;
use crate::log::writer::Writer;
use crate::maintenance::checkpoint::spawn_checkpointer;
use crate::maintenance::folder_lock::FolderLock;
use crate::maintenance::rebuild::{self, Rebuild, Rebuilt, Site};
use crate::maintenance::retention::{self, Removal};
use crate::maintenance::{backup, migrations, scrub, tenant_removal};
use crate::metrics::{LogStats, SimilarityStats};
use crate::peer_news::PeerNews;
#[cfg(feature = "scaled")]
use crate::postgres::Server;
#[cfg(feature = "scaled")]
use crate::postgres::follower::Follower;
use crate::projections::baseline::ChangesOf;
use crate::read_pool::ReadPool;
use crate::{meta, similarity, sqlite};

/// A store in a local folder, or in a Postgres database that several nodes share.
pub struct Store {
    pub(crate) writer: Writer,
    pub(crate) indexes: Arc<similarity::SimilarityIndexes>,
    // Dropping them stops their threads.
    _loader: BackgroundThread,
    pub(crate) engine: Engine,
    peer_news: watch::Sender<PeerNews>,
    pub(crate) pool: ReadPool,
    site: Site,
    seal_key: [u8; 32],
    folder: FolderLock,
}

/// The parts that only one of the databases needs.
pub(crate) enum Engine {
    /// The checkpoint thread, until the store is closed.
    Sqlite(Mutex<Option<BackgroundThread>>),
    #[cfg(feature = "scaled")]
    Postgres(#[expect(dead_code, reason = "dropping it stops its thread")] Follower),
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
        let touched = similarity::Touched::install_hooks(&mut connection)?;
        let mut connection = Connection::Sqlite(connection);
        migrations::migrate_to_newest(&mut connection)?;
        let source = Source::File(file.clone());
        Self::start(lock, connection, &source, (limits, fresh_seal_key), touched, |writer, _| {
            let checkpointer = spawn_checkpointer(&file, writer.watch())?;
            Ok(Engine::Sqlite(Mutex::new(Some(checkpointer))))
        })
    }

    /// Sets whether a commit waits for fsync (the default). Without fsync a crash loses the newest
    /// commits, but the file stays consistent. Use it for data that can be loaded again.
    pub async fn wait_for_disk(&self, wait: bool) -> Result<(), StoreError> {
        self.writer.run(move |connection| sqlite::wait_for_disk(connection, wait)).await
    }

    /// Like `open`, with the tables in a Postgres database. The folder holds only the lock.
    #[cfg(feature = "scaled")]
    pub fn connect(
        folder: &Path,
        address: &str,
        limits: Limits,
        fresh_seal_key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let open = || {
            let lock = FolderLock::acquire(folder)?;
            let server = Server::parse(address)?;
            let mut connection = server.writer()?;
            crate::postgres::migrate_to_newest(&mut connection)?;
            let touched = similarity::Touched::from_now(&connection)?;
            let source = Source::Server(server.clone());
            let limits = (limits, fresh_seal_key);
            Self::start(lock, connection, &source, limits, touched, |writer, news| {
                let queue = writer.weak_queue().ok_or(StoreError::Closed)?;
                let notify = (news, move |head| Writer::notify_foreign_head(&queue, head));
                let partitions = crate::postgres::PartitionMaker::hourly();
                Follower::start(server, partitions, writer.watch(), notify).map(Engine::Postgres)
            })
        };
        // On a thread of its own, because connecting blocks and the caller may be async.
        let opened = std::thread::scope(|scope| scope.spawn(open).join());
        opened.unwrap_or_else(|_| Err(StoreError::Unavailable("connecting panicked".into())))
    }

    fn start(
        folder: FolderLock,
        connection: Connection,
        source: &Source,
        (limits, fresh_seal_key): (Limits, [u8; 32]),
        touched: similarity::Touched,
        start_engine: impl FnOnce(&Writer, watch::Sender<PeerNews>) -> Result<Engine, StoreError>,
    ) -> Result<Self, StoreError> {
        let seal_key = meta::seal_key(&connection, fresh_seal_key)?;
        let pool = ReadPool::open(source, limits.readers)?;
        let indexes = Arc::new(similarity::SimilarityIndexes::new(limits.similar));
        let index = Arc::clone(&indexes);
        let writer = Writer::start(connection, source.clone(), limits, touched, index)?;
        let _loader = similarity::spawn_loader(source, Arc::clone(&indexes))?;
        let site = Site { source: source.clone(), folder: folder.path().to_owned() };
        let peer_news = watch::Sender::default();
        let engine = start_engine(&writer, peer_news.clone())?;
        Ok(Self { writer, indexes, _loader, engine, peer_news, pool, site, seal_key, folder })
    }

    /// Publishes the server's address to other processes of the folder's owner.
    pub fn announce(&self, url: &str, token: &str, yields: bool) -> Result<(), StoreError> {
        self.folder.announce(url, token, yields)
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

    /// The positions after `after` that other nodes may have committed.
    pub fn foreign_range(&self, after: Position) -> ForeignRange {
        self.writer.foreign_range(after)
    }

    /// Notifies when the head moves.
    pub fn watch(&self) -> watch::Receiver<Position> {
        self.writer.watch()
    }

    /// True when other processes may write to the same database.
    pub fn is_shared(&self) -> bool {
        match &self.engine {
            Engine::Sqlite(_) => false,
            #[cfg(feature = "scaled")]
            Engine::Postgres(_) => true,
        }
    }

    /// Notifies of what other nodes did without a log entry, within 50 ms. SQLite has no other
    /// nodes.
    pub fn watch_peers(&self) -> watch::Receiver<PeerNews> {
        self.peer_news.subscribe()
    }

    /// Rebuilds every projection from the log. Writes wait only while differing rows are replaced.
    pub fn rebuild(&self, how: Rebuild) -> Task<'_, Rebuilt> {
        Box::pin(rebuild::rebuild(&self.writer, &self.site, how))
    }

    /// True when the projections are older than this program and must be rebuilt.
    pub fn is_stale(&self) -> Task<'_, bool> {
        self.pool.run(meta::is_stale)
    }

    /// True when a write would succeed. After a failed commit it performs a test write.
    pub fn is_ready(&self) -> Task<'_, bool> {
        Box::pin(async {
            let may_write = match self.writer.is_well() {
                // A remote database may be down although no write has failed yet.
                true => self
                    .pool
                    .run_short(|connection| Ok(connection.exists("SELECT 1", ())?))
                    .await
                    .is_ok(),
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

    pub fn similarity_stats(&self) -> SimilarityStats {
        self.indexes.stats()
    }

    /// The store's random key, created with the store.
    pub fn seal_key(&self) -> [u8; 32] {
        self.seal_key
    }

    /// Commits queued writes, then rejects new ones.
    pub fn close(&self) -> Task<'_, ()> {
        match &self.engine {
            // First, so that the writer closes the file last and SQLite removes the WAL.
            Engine::Sqlite(checkpointer) => drop(checkpointer.lock().take()),
            #[cfg(feature = "scaled")]
            Engine::Postgres(_) => {}
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

    /// Drops events, after their effects are in the baseline of their project. Returns how many
    /// existed. Works in steps of a few milliseconds, between which other writers proceed.
    pub fn drop_events(&self, positions: Vec<Position>, changes_of: ChangesOf) -> Task<'_, usize> {
        let find = move |connection: &Connection| Removal::new(connection, &positions, changes_of);
        Box::pin(async move { self.run_removal(self.pool.run(find).await?).await })
    }

    /// Finds the tenant's first expired events and gives their projects a baseline. From then on a
    /// rebuild keeps what their routers learnt. Returns false when nothing is expired.
    pub fn prepare_drop(
        &self,
        tenant: &Tenant,
        before: Timestamp,
        changes_of: ChangesOf,
    ) -> Task<'_, bool> {
        let tenant = tenant.clone();
        let find = move |connection: &Connection| {
            let first = retention::first_old_events(connection, &tenant, before)?;
            let removal = Removal::new(connection, &first, changes_of)?;
            Ok((!first.is_empty()).then(|| removal.keep_events()))
        };
        Box::pin(async move {
            let Some(removal) = self.pool.run(find).await? else { return Ok(false) };
            self.run_removal(removal).await.map(|_| true)
        })
    }

    async fn run_removal(&self, removal: Removal) -> Result<usize, StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => self.run_by_writer(removal).await,
            #[cfg(feature = "scaled")]
            Engine::Postgres(_) => {
                let source = self.pool.source().clone();
                let run = move || retention::run_apart(&source, removal);
                let joined = tokio::task::spawn_blocking(run).await;
                joined.unwrap_or_else(|_| Err(StoreError::Corrupt("retention panicked".into())))
            }
        }
    }

    /// The only writer of a SQLite file runs the steps.
    async fn run_by_writer(&self, mut removal: Removal) -> Result<usize, StoreError> {
        loop {
            let step = move |connection: &mut Connection| {
                let is_done = removal.step(connection)?;
                Ok((removal, is_done))
            };
            let is_done;
            (removal, is_done) = self.writer.run(step).await?;
            if is_done {
                return Ok(removal.dropped);
            }
        }
    }

    /// Removes a tenant's data, but not its API keys. Returns the number of events.
    pub fn remove_tenant(&self, tenant: &Tenant) -> Task<'_, usize> {
        let (tenant, similar) = (tenant.clone(), Arc::clone(&self.indexes));
        Box::pin(
            self.writer.run(move |connection| {
                tenant_removal::remove_tenant(connection, &tenant, &similar)
            }),
        )
    }

    /// Removes deleted content from the database files. Returns false while a reader holds an old
    /// snapshot; retry then.
    pub fn scrub(&self) -> Task<'_, bool> {
        Box::pin(self.writer.run(|connection| scrub::truncate_wal(connection, scrub::READER_WAIT)))
    }

    /// Like `scrub` for frequent retries: waits only briefly for readers, so that writes are not
    /// delayed.
    pub fn scrub_if_free(&self) -> Task<'_, bool> {
        Box::pin(
            self.writer.run(|connection| scrub::truncate_wal(connection, scrub::SHORT_READER_WAIT)),
        )
    }
}

/// Writes and deletes as much as an ordinary group. A nearly full disk is not ready.
fn try_to_write(connection: &mut Connection) -> Result<(), StoreError> {
    let much = vec![0_u8; 1 << 18];
    connection.execute("REPLACE INTO meta (name, value) VALUES ('try', ?1)", [&much])?;
    connection.execute("DELETE FROM meta WHERE name = 'try'", ())?;
    Ok(())
}
