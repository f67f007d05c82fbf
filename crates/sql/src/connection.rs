//! Connections to SQLite and Postgres.

#![cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "SQLite caches no facts"))]

use super::current_read::CurrentRead;
use super::error::{Error, Result};
use super::memory::CachedFact;
use super::params::{Params, RowBatch};
use super::prefix;
use super::row::{FromRow, Row};
use super::statement::Statement;
use super::statement_count::count_statements;

/// Steps of SQLite's virtual machine between checks for cancellation, some ten microseconds.
const CANCEL_CHECK_STEPS: std::ffi::c_int = 1_000;

pub enum Connection {
    Sqlite(rusqlite::Connection),
    #[cfg(feature = "postgres")]
    Postgres(Box<super::postgres::Session>),
}

impl Connection {
    /// A statement prepared once per connection.
    pub fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        match prefix::prefixed(sql) {
            Some(prefixed) => self.prepare_cached_as_is(&prefixed),
            None => self.prepare_cached_as_is(sql),
        }
    }

    fn prepare_cached_as_is(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Self::Sqlite(connection) => {
                #[cfg(feature = "statement_log")]
                super::statement_log::record_statement(sql);
                Ok(Statement::Cached(connection.prepare_cached(sql)?))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => Ok(Statement::Postgres(session.prepare(sql)?)),
        }
    }

    /// A statement that is prepared for one use.
    pub fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        match prefix::prefixed(sql) {
            Some(prefixed) => self.prepare_as_is(&prefixed),
            None => self.prepare_as_is(sql),
        }
    }

    fn prepare_as_is(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Self::Sqlite(connection) => Ok(Statement::Once(connection.prepare(sql)?)),
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => Ok(Statement::Postgres(session.prepare_once(sql)?)),
        }
    }

    pub fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(params)
    }

    pub fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare(sql)?.query_row(params, read)
    }

    /// Runs a cached statement without a result. Postgres sends it with the next query, which also
    /// returns its error.
    pub fn run(&self, sql: &str, params: impl Params) -> Result<()> {
        self.prepare_cached(sql)?.run(params)
    }

    /// Writes a row with a cached statement. Postgres batches rows of one table.
    pub fn add_row(&self, sql: &str, together: RowBatch, params: impl Params) -> Result<()> {
        self.prepare_cached(sql)?.add(together, params)
    }

    /// Runs a cached statement. Returns the number of changed rows.
    pub fn execute_cached(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare_cached(sql)?.execute(params)
    }

    /// True when a cached query returns a row.
    pub fn exists(&self, sql: &str, params: impl Params) -> Result<bool> {
        self.prepare_cached(sql)?.exists(params)
    }

    /// The first row of a cached query, which must have one.
    pub fn read_row<T: FromRow>(&self, sql: &str, params: impl Params) -> Result<T> {
        self.prepare_cached(sql)?.query_row(params, T::from_row)
    }

    /// The first row of a cached query, if any.
    pub fn find_row<T: FromRow>(&self, sql: &str, params: impl Params) -> Result<Option<T>> {
        self.find_row_with(sql, params, T::from_row)
    }

    /// All rows of a cached query.
    pub fn read_rows<T: FromRow>(&self, sql: &str, params: impl Params) -> Result<Vec<T>> {
        self.read_rows_with(sql, params, T::from_row)
    }

    /// The first row of a cached query, if any, read by `read`.
    pub fn find_row_with<T, E: From<Error>>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        self.prepare_cached(sql)?.find_row_with(params, read)
    }

    /// All rows of a cached query, read by `read`.
    pub fn read_rows_with<T, E: From<Error>>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        self.prepare_cached(sql)?.read_rows_with(params, read)
    }

    /// Runs statements without parameters and results.
    pub fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => {
                count_statements(1);
                Ok(connection.execute_batch(sql)?)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.batch(sql),
        }
    }

    /// Runs statements in this database's own dialect.
    #[cfg(feature = "postgres")]
    pub fn raw_batch(&self, sql: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Self::Postgres(session) => session.raw_batch(sql),
        }
    }

    /// True when the connection is broken and must be replaced.
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.is_lost(),
        }
    }

    pub fn answers(&self) -> bool {
        match self {
            Self::Sqlite(_) => true,
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.ping(),
        }
    }

    /// Starts a read-only snapshot.
    pub fn begin_reading(&self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => {
                Ok(connection.prepare_cached("BEGIN")?.execute([]).map(drop)?)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => {
                session.queue_batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
                Ok(())
            }
        }
    }

    /// Lets reads be cancelled.
    pub fn watch(&mut self, read: CurrentRead) -> Result<()> {
        match self {
            Self::Sqlite(connection) => {
                let is_cancelled = move || read.is_cancelled();
                Ok(connection.progress_handler(CANCEL_CHECK_STEPS, Some(is_cancelled))?)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => {
                session.watch(read);
                Ok(())
            }
        }
    }

    pub fn end_reading(&self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => {
                Ok(connection.prepare_cached("ROLLBACK")?.execute([]).map(drop)?)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(session) if session.is_lost() || session.has_pending() => {
                session.forget_pending();
                Ok(())
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.send_raw_batch("ROLLBACK"),
        }
    }

    #[cfg(feature = "postgres")]
    pub fn postgres(&self) -> Option<&super::postgres::Session> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(session) => Some(session),
        }
    }

    /// For operations that only SQLite has.
    pub fn sqlite(&self) -> Option<&rusqlite::Connection> {
        match self {
            Self::Sqlite(connection) => Some(connection),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }

    pub(super) fn begin(&self) -> Result<()> {
        match self {
            // The only writer, so the lock is never contended.
            Self::Sqlite(connection) => {
                count_statements(1);
                Ok(connection.execute_batch("BEGIN IMMEDIATE")?)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => {
                session.memory().end();
                session.keys().begin();
                // The lock on the log head serializes writers of all nodes.
                session.queue_batch("BEGIN; SELECT position FROM log_head FOR UPDATE");
                Ok(())
            }
        }
    }

    /// Begins a transaction that does not wait for writers of the log on other nodes.
    pub(super) fn begin_beside_the_log(&self) -> Result<()> {
        match self {
            Self::Sqlite(_) => self.begin(),
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => {
                session.memory().end();
                session.keys().begin();
                session.queue_batch("BEGIN");
                Ok(())
            }
        }
    }

    /// Clears the facts cached for the transaction.
    pub(super) fn forget_transaction(&self) {
        match self {
            Self::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.memory().end(),
        }
    }

    pub(super) fn roll_back(&self) {
        self.forget_transaction();
        self.forget_pending();
        if let Err(error) = self.execute_batch("ROLLBACK") {
            // SQLite rolls back by itself after some errors, and so does a lost session.
            tracing::debug!(%error, "nothing to roll back");
        }
    }

    /// Invalidates cached user keys after an erasure. Later statements run after it.
    pub fn invalidate_users(&self) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Some(session) = self.postgres() {
            session.keys().forget("users");
            session.memory().clear();
        }
        self.flush()
    }

    /// A fact cached in this transaction. SQLite caches none, because its reads need no round trip.
    pub fn recall<T: CachedFact>(&self, key: i64) -> Option<T> {
        match self {
            Self::Sqlite(_) => None,
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.memory().get(key),
        }
    }

    pub fn remember<T: CachedFact>(&self, key: i64, fact: impl FnOnce() -> T) {
        match self {
            Self::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.memory().put(key, fact()),
        }
    }

    pub fn unlearn<T: CachedFact>(&self, key: i64) {
        match self {
            Self::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.memory().forget::<T>(key),
        }
    }

    /// Rows added later are not sent before statements queued until here.
    pub fn fence_pending(&self) {
        match self {
            Self::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.fence_pending(),
        }
    }

    /// Sends queued statements and returns the first error.
    pub fn flush(&self) -> Result<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.raw_batch(""),
        }
    }

    pub(super) fn forget_pending(&self) {
        match self {
            Self::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => {
                session.forget_pending();
                session.keys().clear();
                session.memory().clear();
            }
        }
    }
}
