//! The default backend: one SQLite file, one writer thread, a pool of readers.

mod folder;
mod connect;
mod source;
mod migrate;
mod keys;
mod apply;
mod needs;
mod dead_letters;
mod claims;
mod append;
#[cfg(feature = "scaled")]
mod ahead;
mod similar;
mod head;
mod writer;
#[cfg(feature = "scaled")]
mod follow;
#[cfg(feature = "scaled")]
mod handover;
mod checkpoint;
mod retain;
mod rebuild;
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
mod alerts;
mod experiments;
mod moments;
mod judged;
mod leases;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use event::{
    ConversationId, DecisionId, Event, EventId, Outcome, Position, Scope, Tenant, Timestamp,
    TurnId, UserId, VerdictStatus, Write,
};
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::error::StoreError;
use crate::log::{Log, Rebuild, Rebuilt, Task};
use crate::meter::LogStats;
use crate::read::copies::{TurnLogCopies, TurnLogCopy};
use crate::read::dead_letters::{DeadLetter, DeadLetters};
use crate::read::decisions::{DecisionReads, StoredDecision};
use crate::read::events::{EventPage, EventReads, StoredEvent};
use crate::read::exchanges::{ExchangeQuery, ExchangeReads, Habit, StoredExchange};
use crate::read::keys::{KeyStore, StoredKey};
use crate::read::labels::{Label, LabelReads, StoredCalibration};
use crate::read::reactions::{
    ConversationQuery, PeriodPage, PeriodQuery, ReactionReads, ReactionSearch, StoredReaction,
};
use crate::read::retention::Retention;
use crate::read::routing::{RouterCheckpoint, RouterScope, RouterTurn, RoutingStore};
use crate::read::rules::{RuleReads, TenantSettings};
use crate::read::sessions::{OpenSession, SessionReads};
use crate::read::similar::{SimilarQuery, SimilarReads, SimilarTurns, TurnNumber};
use crate::read::turns::{StoredTurn, TurnHead, TurnReads};
use crate::read::users::{ErasedCounts, UserReads};
use crate::sql::Connection;

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
        _follower: follow::Follower,
        folder: folder::FolderLock,
    },
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
        let _follower = follow::Follower::start(source, tell)?;
        let engine = Engine::Postgres { _follower, folder };
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

use source::Source;

#[cfg(feature = "scaled")]
pub(crate) use handover::Handover;
#[cfg(feature = "scaled")]
pub(crate) use rebuild::PROJECTIONS;

pub use folder::{Holder, ask_for, holder_of, is_wanted};

/// The log of a store that another process may own, for reading only.
pub struct SqliteLog {
    pool: pool::ReadPool,
}

impl SqliteLog {
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

impl Log for SqliteStore {
    fn commit(&self, writes: Vec<Write>) -> Task<'_, Vec<Outcome>> {
        // Queued now, not when first polled: the order of calls is the order of the log.
        let queued = self.writer.submit(writes);
        Box::pin(async move { queued?.await.map_err(|_| StoreError::Closed)? })
    }

    fn head(&self) -> Position {
        *self.writer.watch().borrow()
    }

    fn watch(&self) -> watch::Receiver<Position> {
        self.writer.watch()
    }

    fn is_shared(&self) -> bool {
        match &self.engine {
            Engine::Sqlite { .. } => false,
            #[cfg(feature = "scaled")]
            Engine::Postgres { .. } => true,
        }
    }

    fn rebuild(&self, how: Rebuild) -> Task<'_, Rebuilt> {
        Box::pin(self.writer.run(move |connection| rebuild::rebuild(connection, &how)))
    }

    fn is_stale(&self) -> Task<'_, bool> {
        self.pool.run(migrate::is_stale)
    }

    fn is_ready(&self) -> Task<'_, bool> {
        if self.writer.is_well() {
            return Box::pin(std::future::ready(Ok(true)));
        }
        Box::pin(async { Ok(self.writer.run(copies::try_to_write).await.is_ok()) })
    }

    fn stats(&self) -> LogStats {
        self.writer.stats()
    }

    fn seal_key(&self) -> [u8; 32] {
        self.seal_key
    }

    fn close(&self) -> Task<'_, ()> {
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

impl EventReads for SqliteStore {
    fn event(&self, scope: &Scope, id: &EventId) -> Task<'_, Option<StoredEvent>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run_short(move |connection| events::by_id(connection, &scope, &id))
    }

    fn events(&self, page: EventPage) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| events::page(connection, &page))
    }

    fn tail(&self, after: Position, limit: usize) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| events::tail(connection, after, limit))
    }

    fn recent_questions(&self, since: Timestamp, newest: u64) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| events::recent_questions(connection, since, newest))
    }
}

impl TurnReads for SqliteStore {
    fn turn_head(&self, scope: &Scope, turn: &TurnId) -> Task<'_, Option<TurnHead>> {
        let (scope, turn) = (scope.clone(), turn.clone());
        self.pool.run_short(move |connection| turns::head(connection, &scope, &turn))
    }

    fn turns(&self, scope: &Scope, turns: Vec<TurnId>) -> Task<'_, Vec<StoredTurn>> {
        let scope = scope.clone();
        self.pool.run(move |connection| turns::with_events(connection, &scope, &turns))
    }
}

impl ExchangeReads for SqliteStore {
    fn exchanges(&self, query: ExchangeQuery) -> Task<'_, Vec<StoredExchange>> {
        let most = query.limit;
        self.pool.run_some(most, move |connection| exchanges::newest(connection, &query))
    }

    fn exchanges_by_id(&self, scope: &Scope, turns: Vec<TurnId>) -> Task<'_, Vec<StoredExchange>> {
        let scope = scope.clone();
        self.pool
            .run_some(turns.len(), move |connection| exchanges::by_id(connection, &scope, &turns))
    }

    fn heard_in(&self, scope: &Scope, message: &TurnId) -> Task<'_, Option<Event>> {
        let (scope, message) = (scope.clone(), message.clone());
        self.pool.run_short(move |connection| exchanges::heard_in(connection, &scope, &message))
    }

    fn habits(&self, query: ExchangeQuery) -> Task<'_, Vec<Habit>> {
        let most = query.limit;
        self.pool.run_some(most, move |connection| exchanges::habits(connection, &query))
    }

    fn statuses(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
        until: (Timestamp, Position),
        limit: usize,
    ) -> Task<'_, Vec<(TurnId, VerdictStatus)>> {
        let (scope, conversation) = (scope.clone(), conversation.clone());
        self.pool.run_short(move |connection| {
            exchanges::statuses(connection, &scope, &conversation, until, limit)
        })
    }
}

impl SessionReads for SqliteStore {
    fn open_session(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
    ) -> Task<'_, Option<OpenSession>> {
        let (scope, conversation) = (scope.clone(), conversation.clone());
        self.pool.run_short(move |connection| {
            sessions::of_conversation(connection, &scope, &conversation)
        })
    }

    fn silent_sessions(&self, since: Timestamp, limit: usize) -> Task<'_, Vec<OpenSession>> {
        self.pool.run(move |connection| sessions::silent(connection, since, limit))
    }
}

impl LabelReads for SqliteStore {
    fn labels(&self, scope: &Scope, limit: usize) -> Task<'_, Vec<Label>> {
        let scope = scope.clone();
        self.pool.run(move |connection| labels::labels(connection, &scope, limit))
    }

    fn calibrations(&self) -> Task<'_, Vec<StoredCalibration>> {
        self.pool.run(labels::calibrations)
    }
}

impl SimilarReads for SqliteStore {
    fn similar(&self, query: SimilarQuery) -> Task<'_, SimilarTurns> {
        let shelves = Arc::clone(&self.shelves);
        self.pool.run(move |connection| similar::find(connection, &shelves, &query))
    }

    fn found(&self, turns: Vec<TurnNumber>) -> Task<'_, Vec<Option<StoredExchange>>> {
        self.pool.run_some(turns.len(), move |connection| {
            turns.iter().map(|turn| exchanges::by_key(connection, turn.0)).collect()
        })
    }
}

impl RoutingStore for SqliteStore {
    fn router_scopes(&self) -> Task<'_, Vec<RouterScope>> {
        self.pool.run(routing::scopes)
    }

    fn router_checkpoint(&self, scope: &Scope) -> Task<'_, Option<RouterCheckpoint>> {
        let scope = scope.clone();
        self.pool.run(move |connection| routing::checkpoint(connection, &scope))
    }

    fn router_turn(&self, scope: &Scope, turn: &TurnId) -> Task<'_, Option<(String, Vec<u8>)>> {
        let (scope, turn) = (scope.clone(), turn.clone());
        self.pool.run_short(move |connection| routing::turn(connection, &scope, &turn))
    }

    fn save_routers(
        &self,
        scope: &Scope,
        checkpoint: RouterCheckpoint,
        turns: Vec<RouterTurn>,
    ) -> Task<'_, ()> {
        let scope = scope.clone();
        let save = move |connection: &mut _| routing::save(connection, &scope, &checkpoint, &turns);
        Box::pin(self.writer.run(save))
    }

    fn forget_routers(&self, scope: &Scope) -> Task<'_, ()> {
        let scope = scope.clone();
        Box::pin(self.writer.run(move |connection: &mut _| routing::forget(connection, &scope)))
    }

    fn router_turns(
        &self,
        scope: &Scope,
        router: &str,
        since: Timestamp,
        passed: usize,
        limit: usize,
    ) -> Task<'_, Vec<RouterTurn>> {
        let (scope, router) = (scope.clone(), router.to_owned());
        self.pool.run(move |connection| {
            routing::turns(connection, &scope, &router, since, passed, limit)
        })
    }
}

impl ReactionReads for SqliteStore {
    fn standing_reaction(
        &self,
        scope: &Scope,
        turn: &TurnId,
        user: Option<&UserId>,
    ) -> Task<'_, Option<StoredReaction>> {
        let (scope, turn, user) = (scope.clone(), turn.clone(), user.cloned());
        self.pool
            .run(move |connection| reactions::standing(connection, &scope, &turn, user.as_ref()))
    }

    fn active_conversations(&self, query: PeriodQuery) -> Task<'_, PeriodPage> {
        self.pool.run(move |connection| period::page(connection, &query))
    }

    fn reactions_of(&self, query: ConversationQuery) -> Task<'_, Vec<StoredReaction>> {
        self.pool.run(move |connection| reactions::of_conversation(connection, &query))
    }

    fn search_reactions(&self, query: ReactionSearch) -> Task<'_, Vec<StoredReaction>> {
        self.pool.run(move |connection| reactions::search(connection, &query))
    }
}

impl DecisionReads for SqliteStore {
    fn decision(&self, scope: &Scope, id: &DecisionId) -> Task<'_, Option<StoredDecision>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run_short(move |connection| decisions::by_id(connection, &scope, &id))
    }

    fn decisions_of(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
        after: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredDecision>> {
        let (scope, conversation) = (scope.clone(), conversation.clone());
        self.pool.run(move |connection| {
            decisions::of_conversation(connection, &scope, &conversation, after, limit)
        })
    }
}

impl TurnLogCopies for SqliteStore {
    fn mirrored_to(&self, place: &str) -> Task<'_, Position> {
        let place = place.to_owned();
        self.pool.run(move |connection| copies::mirrored_to(connection, &place))
    }

    fn note_copies(&self, place: &str, copies: Vec<TurnLogCopy>, upto: Position) -> Task<'_, ()> {
        let place = place.to_owned();
        let note = move |connection: &mut _| copies::note(connection, &place, &copies, upto);
        Box::pin(self.writer.run(note))
    }

    fn forget_copies(&self) -> Task<'_, ()> {
        Box::pin(self.writer.run(copies::forget))
    }

    fn copies_due(&self, scope: Option<Scope>, limit: usize) -> Task<'_, Vec<(Scope, TurnId)>> {
        self.pool.run_short(move |connection| copies::due(connection, scope.as_ref(), limit))
    }

    fn settle_copies(
        &self,
        settled: Vec<(Scope, TurnId)>,
        again: Vec<TurnLogCopy>,
    ) -> Task<'_, ()> {
        let settle = move |connection: &mut _| copies::settle(connection, &settled, &again);
        Box::pin(self.writer.run(settle))
    }

    fn copy_of(&self, scope: &Scope, turn: &TurnId) -> Task<'_, Option<TurnLogCopy>> {
        let (scope, turn) = (scope.clone(), turn.clone());
        self.pool.run(move |connection| copies::copy_of(connection, &scope, &turn))
    }
}

impl RuleReads for SqliteStore {
    fn privacy(&self) -> Task<'_, Vec<TenantSettings>> {
        self.pool.run(rules::privacy)
    }

    fn profile(&self, scope: &Scope, user: &UserId) -> Task<'_, Option<Map<String, Value>>> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run_short(move |connection| rules::profile(connection, &scope, &user))
    }
}

impl UserReads for SqliteStore {
    fn whats_of(&self, scope: &Scope, user: &UserId) -> Task<'_, (ErasedCounts, Vec<TurnId>)> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run(move |connection| users::whats_of(connection, &scope, &user))
    }

    fn turns_of(&self, scope: &Scope, user: &UserId) -> Task<'_, Vec<TurnId>> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run(move |connection| users::turns_of(connection, &scope, &user))
    }

    fn erased_by(
        &self,
        erasure: Position,
        after: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| users::erased_by(connection, erasure, after, limit))
    }

    fn scrub(&self) -> Task<'_, bool> {
        Box::pin(self.writer.run(users::scrub))
    }
}

impl DeadLetters for SqliteStore {
    fn dead_letters(&self, scope: &Scope, after: u64, limit: usize) -> Task<'_, Vec<DeadLetter>> {
        let scope = scope.clone();
        self.pool.run(move |connection| dead_letters::page(connection, &scope, after, limit))
    }

    fn dead_letter(&self, scope: &Scope, id: &str) -> Task<'_, Option<DeadLetter>> {
        let (scope, id) = (scope.clone(), id.to_owned());
        self.pool.run_short(move |connection| dead_letters::by_id(connection, &scope, &id))
    }

    fn set_aside(&self, write: Write, reason: String) -> Task<'_, ()> {
        let letter = append::Prepared::new(write);
        let put = move |connection: &mut _| append::set_aside(connection, &letter, &reason);
        Box::pin(self.writer.run(put))
    }

    fn drop_dead_letter(&self, scope: &Scope, id: &str) -> Task<'_, ()> {
        let (scope, id) = (scope.clone(), id.to_owned());
        let forget = move |connection: &mut _| dead_letters::forget(connection, &scope, &id);
        Box::pin(self.writer.run(forget))
    }
}

impl Retention for SqliteStore {
    fn has_old(&self, tenant: &Tenant, before: Timestamp) -> Task<'_, bool> {
        let tenant = tenant.clone();
        self.pool.run(move |connection| retain::has_old(connection, &tenant, before))
    }

    fn copy_projections(&self) -> Task<'_, Position> {
        Box::pin(self.writer.run(retain::copy_projections))
    }

    fn drop_old(
        &self,
        tenant: &Tenant,
        before: Timestamp,
        upto: Position,
        most: usize,
    ) -> Task<'_, usize> {
        let tenant = tenant.clone();
        let drop =
            move |connection: &mut _| retain::drop_old(connection, &tenant, before, upto, most);
        Box::pin(self.writer.run(drop))
    }
}

impl KeyStore for SqliteStore {
    fn keys(&self) -> Task<'_, Vec<StoredKey>> {
        self.pool.run(api_keys::all)
    }

    fn add_key(&self, key: StoredKey) -> Task<'_, ()> {
        Box::pin(self.writer.run(move |connection| api_keys::add(connection, &key)))
    }

    fn revoke_key(&self, id: &str, at: Timestamp) -> Task<'_, bool> {
        let id = id.to_owned();
        Box::pin(self.writer.run(move |connection| api_keys::revoke(connection, &id, at)))
    }
}

#[cfg(test)]
mod tests;
