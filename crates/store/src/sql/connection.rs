//! A way to a database.

use super::error::Result;
use super::params::Params;
use super::row::Row;
use super::statement::Statement;
use super::transaction::Transaction;

/// A connection to one of the databases.
pub(crate) enum Connection {
    Sqlite(rusqlite::Connection),
    #[cfg(feature = "scaled")]
    Postgres(Box<super::postgres::Session>),
}

impl Connection {
    /// A statement that is run again and again: it is planned once.
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Self::Sqlite(connection) => Ok(Statement::Cached(connection.prepare_cached(sql)?)),
            #[cfg(feature = "scaled")]
            Self::Postgres(session) => Ok(Statement::Postgres(session.prepare(sql)?)),
        }
    }

    /// A statement that is made up for one question.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Self::Sqlite(connection) => Ok(Statement::Once(connection.prepare(sql)?)),
            #[cfg(feature = "scaled")]
            Self::Postgres(session) => Ok(Statement::Postgres(session.prepare(sql)?)),
        }
    }

    /// Runs a statement once.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(params)
    }

    /// The first row of a statement that is run once.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare(sql)?.query_row(params, read)
    }

    /// Runs statements that take and give nothing.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            #[cfg(feature = "scaled")]
            Self::Postgres(session) => session.batch(sql),
        }
    }

    /// A transaction that may write.
    pub(crate) fn transaction(&mut self) -> Result<Transaction<'_>> {
        Transaction::begin(self)
    }

    /// SQLite's own connection, if it is one. For the few things that only one of them can do.
    pub(crate) fn sqlite(&self) -> Option<&rusqlite::Connection> {
        match self {
            Self::Sqlite(connection) => Some(connection),
            #[cfg(feature = "scaled")]
            Self::Postgres(_) => None,
        }
    }

    pub(super) fn begin(&self) -> Result<()> {
        match self {
            // Nobody else writes: whoever begins may go on to the end.
            Self::Sqlite(connection) => Ok(connection.execute_batch("BEGIN IMMEDIATE")?),
            #[cfg(feature = "scaled")]
            Self::Postgres(session) => {
                session.batch_later("BEGIN");
                Ok(())
            }
        }
    }

    pub(super) fn roll_back(&self) {
        self.forget_pending();
        if let Err(error) = self.execute_batch("ROLLBACK") {
            // SQLite has rolled back by itself after some errors, and a lost session has too.
            tracing::debug!(%error, "nothing to roll back");
        }
    }

    /// Forgets statements that were not sent yet.
    pub(super) fn forget_pending(&self) {
        match self {
            Self::Sqlite(_) => {}
            #[cfg(feature = "scaled")]
            Self::Postgres(session) => session.forget_pending(),
        }
    }
}
