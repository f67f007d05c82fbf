//! A way to a database.

use super::error::Result;
use super::memory::CachedFact;
use super::params::Params;
use super::row::Row;
use super::statement::Statement;
use super::transaction::Transaction;

/// A connection to one of the databases.
pub enum Connection {
    Sqlite(rusqlite::Connection),
    #[cfg(feature = "postgres")]
    Postgres(Box<super::postgres::Session>),
}

impl Connection {
    /// A statement that is run again and again: it is planned once.
    pub fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
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

    /// A statement that is made up for one question.
    pub fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Self::Sqlite(connection) => Ok(Statement::Once(connection.prepare(sql)?)),
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => Ok(Statement::Postgres(session.prepare_once(sql)?)),
        }
    }

    /// Runs a statement once.
    pub fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(params)
    }

    /// The first row of a statement that is run once.
    pub fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare(sql)?.query_row(params, read)
    }

    /// Runs statements that take and give nothing.
    pub fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.batch(sql),
        }
    }

    /// Runs statements that are written for this database.
    #[cfg(feature = "postgres")]
    pub fn raw_batch(&self, sql: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Self::Postgres(session) => session.raw_batch(sql),
        }
    }

    /// Whether it was lost, and another one is needed.
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.is_lost(),
        }
    }

    /// Asks for nothing, to see whether there is an answer.
    pub fn answers(&self) -> bool {
        match self {
            Self::Sqlite(_) => true,
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.ping(),
        }
    }

    /// From now on one state of the database is read.
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

    /// The state that was read is let go.
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

    /// The session with Postgres, if it is one.
    #[cfg(feature = "postgres")]
    pub fn postgres(&self) -> Option<&super::postgres::Session> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(session) => Some(session),
        }
    }

    /// A transaction that may write.
    pub fn transaction(&mut self) -> Result<Transaction<'_>> {
        Transaction::begin(self)
    }

    /// SQLite's own connection, if it is one. For the few things that only one of them can do.
    pub fn sqlite(&self) -> Option<&rusqlite::Connection> {
        match self {
            Self::Sqlite(connection) => Some(connection),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }

    pub(super) fn begin(&self) -> Result<()> {
        match self {
            // Nobody else writes: whoever begins may go on to the end.
            Self::Sqlite(connection) => Ok(connection.execute_batch("BEGIN IMMEDIATE")?),
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => {
                session.memory().end();
                session.keys().begin();
                // Whoever writes holds the head of the log: one after the other, on all nodes.
                session.queue_batch("BEGIN; SELECT position FROM log_head FOR UPDATE");
                Ok(())
            }
        }
    }

    /// The transaction is over: what it knew may change.
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
            // SQLite has rolled back by itself after some errors, and a lost session has too.
            tracing::debug!(%error, "nothing to roll back");
        }
    }

    /// Somebody was erased: nobody's key may be remembered, and what comes next comes behind it.
    pub fn invalidate_users(&self) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Some(session) = self.postgres() {
            session.keys().forget("users");
            session.memory().clear();
        }
        self.flush()
    }

    /// What this transaction knows of a row, if it has asked before and a question costs a round trip.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(unused_variables, reason = "a call costs nothing")
    )]
    pub fn recall<T: CachedFact>(&self, key: i64) -> Option<T> {
        match self {
            Self::Sqlite(_) => None,
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.memory().get(key),
        }
    }

    /// Lets this transaction know something of a row.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(unused_variables, reason = "a call costs nothing")
    )]
    pub fn remember<T: CachedFact>(&self, key: i64, fact: impl FnOnce() -> T) {
        match self {
            Self::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.memory().put(key, fact()),
        }
    }

    /// Something of a row may be otherwise than this transaction knows.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(unused_variables, reason = "a call costs nothing")
    )]
    pub fn unlearn<T: CachedFact>(&self, key: i64) {
        match self {
            Self::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.memory().forget::<T>(key),
        }
    }

    /// Rows that are added from now on do not go ahead of what was run before.
    pub fn fence_pending(&self) {
        match self {
            Self::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.fence_pending(),
        }
    }

    /// Sends statements that were not sent yet, and tells if one fails.
    pub fn flush(&self) -> Result<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.raw_batch(""),
        }
    }

    /// Forgets statements that were not sent yet.
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
