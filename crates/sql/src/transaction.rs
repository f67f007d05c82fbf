//! Transactions and savepoints.

use std::ops::Deref;

use super::connection::Connection;
use super::error::Result;

/// A transaction that rolls back on drop.
pub struct Transaction<'c> {
    connection: &'c Connection,
    over: bool,
}

impl Connection {
    pub fn transaction(&mut self) -> Result<Transaction<'_>> {
        self.begin()?;
        Ok(Transaction { connection: self, over: false })
    }

    /// A transaction that does not write to the log. On Postgres it runs beside writers of the log.
    pub fn transaction_beside_the_log(&mut self) -> Result<Transaction<'_>> {
        self.begin_beside_the_log()?;
        Ok(Transaction { connection: self, over: false })
    }
}

impl Transaction<'_> {
    /// Returns when the transaction is durable.
    pub fn commit(mut self) -> Result<()> {
        // A failed commit changes nothing and may leave the transaction open. After a broken
        // connection the outcome is unknown.
        self.connection.execute_batch("COMMIT")?;
        self.over = true;
        self.connection.forget_transaction();
        Ok(())
    }

    pub fn savepoint(&mut self) -> Result<Savepoint<'_>> {
        self.connection.execute_batch("SAVEPOINT part")?;
        Ok(Savepoint { connection: self.connection, over: false })
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.connection.roll_back();
        }
    }
}

/// A savepoint that rolls back on drop.
pub struct Savepoint<'c> {
    connection: &'c Connection,
    over: bool,
}

impl Savepoint<'_> {
    pub fn commit(mut self) -> Result<()> {
        self.over = true;
        self.connection.execute_batch("RELEASE part")
    }

    pub fn finish(mut self) -> Result<()> {
        self.over = true;
        self.roll_back()
    }

    fn roll_back(&self) -> Result<()> {
        self.connection.forget_pending();
        self.connection.execute_batch("ROLLBACK TO part; RELEASE part")
    }
}

impl Deref for Savepoint<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Savepoint<'_> {
    fn drop(&mut self) {
        if !self.over
            && let Err(error) = self.roll_back()
        {
            tracing::error!(%error, "rolling back a savepoint failed");
        }
    }
}
