//! Connections for reading. SQLite blocks, so each read runs on a blocking thread.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::connect;
use crate::error::StoreError;
use crate::log::Task;
use crate::sql::Connection;

/// Turns that are read on the spot.
const A_FEW: usize = 20;

/// As many reads at once as there are connections; the others wait their turn.
pub(super) struct ReadPool {
    idle: Idle,
    permits: Arc<Semaphore>,
}

type Idle = Arc<Mutex<Vec<Connection>>>;

/// A connection on loan. It goes back even if the read that has it panics.
struct Loan {
    connection: Option<Connection>,
    idle: Idle,
}

impl Loan {
    fn take(idle: &Idle) -> Option<Self> {
        let connection = idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        Some(Self { connection: Some(connection), idle: Arc::clone(idle) })
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.connection.take());
    }
}

impl ReadPool {
    /// Opens all connections.
    pub(super) fn open(file: &Path, size: usize) -> Result<Self, StoreError> {
        let size = size.max(1);
        let idle = (0..size).map(|_| connect::reader(file)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { idle: Arc::new(Mutex::new(idle)), permits: Arc::new(Semaphore::new(size)) })
    }

    /// Runs a read that looks up a row or two. That takes some microseconds, less than handing it
    /// to another thread would; only when all connections are taken it waits its turn there.
    pub(super) fn run_short<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        let Ok(_permit) = self.permits.try_acquire() else { return self.run(read) };
        let Some(loan) = Loan::take(&self.idle) else { return self.run(read) };
        Box::pin(std::future::ready(on_loan(&loan, read)))
    }

    /// Runs a read of at most so many turns: of a few as a short one.
    pub(super) fn run_some<T: Send + 'static>(
        &self,
        turns: usize,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        if turns <= A_FEW { self.run_short(read) } else { self.run(read) }
    }

    /// Runs a read on the next free connection.
    pub(super) fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        let idle = Arc::clone(&self.idle);
        let permits = Arc::clone(&self.permits);
        Box::pin(async move {
            let permit = permits.acquire_owned().await.map_err(|_| StoreError::Closed)?;
            let task = move || {
                let loan = Loan::take(&idle).ok_or(StoreError::Busy)?;
                let result = on_loan(&loan, read);
                // In this order: whoever gets the permit next finds a connection.
                drop(loan);
                drop(permit);
                result
            };
            let joined = tokio::task::spawn_blocking(task).await;
            joined.unwrap_or_else(|_| Err(StoreError::Corrupt("a read panicked".into())))
        })
    }
}

fn on_loan<T>(
    loan: &Loan,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let connection = loan.connection.as_ref().ok_or(StoreError::Busy)?;
    let snapshot = Snapshot::of(connection)?;
    let result = read(connection);
    drop(snapshot);
    result
}

/// One state of the database for all statements of a read; and the file's locks are taken once, not
/// for each of them, which for many small ones costs more than they do.
struct Snapshot<'a>(&'a Connection);

impl<'a> Snapshot<'a> {
    fn of(connection: &'a Connection) -> Result<Self, StoreError> {
        connection.prepare_cached("BEGIN")?.execute(())?;
        Ok(Self(connection))
    }
}

impl Drop for Snapshot<'_> {
    /// Also when the read panics: the next one must not see the old state.
    fn drop(&mut self) {
        let ended = self.0.prepare_cached("ROLLBACK").and_then(|mut end| end.execute(()));
        if let Err(error) = ended {
            tracing::error!(%error, "a read did not end");
        }
    }
}
