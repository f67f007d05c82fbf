//! Transactions and savepoints.

use std::ops::Deref;

use super::connection::Connection;
use super::error::Result;

/// A transaction that rolls back on drop.
pub struct Transaction<'c> {
    connection: &'c Connection,
    over: bool,
}

impl<'c> Transaction<'c> {
    pub(super) fn begin(connection: &'c Connection) -> Result<Self> {
        connection.begin()?;
        Ok(Self { connection, over: false })
    }

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
    /// Releases the savepoint.
    pub fn commit(mut self) -> Result<()> {
        self.over = true;
        self.connection.execute_batch("RELEASE part")
    }

    pub fn finish(mut self) -> Result<()> {
        self.over = true;
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
        if !self.over {
            self.connection.forget_pending();
            if let Err(error) = self.connection.execute_batch("ROLLBACK TO part; RELEASE part") {
                tracing::error!(%error, "rolling back a savepoint failed");
            }
        }
    }
}
