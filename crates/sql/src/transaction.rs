//! All or nothing.

use std::ops::Deref;

use super::connection::Connection;
use super::error::Result;

/// A transaction: rolled back when it is dropped before it is committed.
pub struct Transaction<'c> {
    connection: &'c Connection,
    over: bool,
}

impl<'c> Transaction<'c> {
    pub(super) fn begin(connection: &'c Connection) -> Result<Self> {
        connection.begin()?;
        Ok(Self { connection, over: false })
    }

    /// Keeps what was done, on disk.
    pub fn commit(mut self) -> Result<()> {
        // A commit that fails has changed nothing, and the transaction may still be open; unless the connection
        // broke, when only another one can tell.
        self.connection.execute_batch("COMMIT")?;
        self.over = true;
        self.connection.forget_transaction();
        Ok(())
    }

    /// A part of it that can be taken back by itself.
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

/// A part of a transaction: taken back when it is dropped before it is kept.
pub struct Savepoint<'c> {
    connection: &'c Connection,
    over: bool,
}

impl Savepoint<'_> {
    /// Keeps it, as far as the transaction is kept.
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
                tracing::error!(%error, "a part of a transaction was not taken back");
            }
        }
    }
}
