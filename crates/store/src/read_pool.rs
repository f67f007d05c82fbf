//! Connections for reading. SQLite blocks, so each read runs on a blocking thread.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sql::Connection;
use tokio::sync::Semaphore;

use crate::connection_source::Source;
use crate::error::{StoreError, Task};
use crate::metrics::Stopwatch;
use crate::outage::Outage;

/// Turns that are read on the spot.
const SHORT_READ_ROWS: usize = 20;

/// As many reads at once as there are connections; the others wait their turn.
pub(crate) struct ReadPool {
    source: Source,
    idle: Idle,
    permits: Arc<Semaphore>,
    outage: Arc<Outage>,
}

type Idle = Arc<Mutex<Vec<IdleConnection>>>;

/// A connection, and since when nobody has used it.
struct IdleConnection {
    connection: Connection,
    since: Stopwatch,
}

/// A connection that rested this long is asked whether it is still there.
const IDLE_CHECK_AFTER: Duration = Duration::from_secs(1);

/// A connection on loan. It goes back even if the read that has it panics.
struct BorrowedConnection {
    connection: Option<Connection>,
    idle: Idle,
}

impl BorrowedConnection {
    fn take(idle: &Idle) -> Option<(Self, Duration)> {
        let resting = idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        let loan = Self { connection: Some(resting.connection), idle: Arc::clone(idle) };
        Some((loan, resting.since.elapsed()))
    }

    /// Sees to it that the connection works, if that can be in doubt.
    fn reconnect(&mut self, source: &Source, rested: Duration) -> Result<(), StoreError> {
        let lost = self.connection.as_ref().is_none_or(|connection| {
            connection.is_lost() || (rested > IDLE_CHECK_AFTER && !connection.answers())
        });
        if lost {
            self.connection = Some(source.reader()?);
        }
        Ok(())
    }
}

impl Drop for BorrowedConnection {
    fn drop(&mut self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let since = Stopwatch::start();
        idle.extend(self.connection.take().map(|connection| IdleConnection { connection, since }));
    }
}

impl ReadPool {
    pub(crate) fn open(source: &Source, size: usize) -> Result<Self, StoreError> {
        let size = size.max(1);
        let rest = |connection| IdleConnection { connection, since: Stopwatch::start() };
        let idle = (0..size).map(|_| source.reader().map(rest)).collect::<Result<Vec<_>, _>>()?;
        let permits = Arc::new(Semaphore::new(size));
        let (idle, outage) = (Arc::new(Mutex::new(idle)), Arc::new(Outage::new("read")));
        Ok(Self { source: source.clone(), idle, permits, outage })
    }

    /// Runs a read that looks up a row or two. That takes some microseconds, less than handing it
    /// to another thread would; only when all connections are taken it waits its turn there.
    pub(crate) fn run_short<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        if !self.source.is_local() {
            return self.run(read);
        }
        let Ok(_permit) = self.permits.try_acquire() else { return self.run(read) };
        let Some((loan, _)) = BorrowedConnection::take(&self.idle) else { return self.run(read) };
        let result = run_on(&loan, read);
        self.outage.note(&result);
        Box::pin(std::future::ready(result))
    }

    /// Runs a read of at most so many turns: of a few as a short one.
    pub(crate) fn run_some<T: Send + 'static>(
        &self,
        turns: usize,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        if turns <= SHORT_READ_ROWS { self.run_short(read) } else { self.run(read) }
    }

    /// Runs a read on the next free connection.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        let (idle, source) = (Arc::clone(&self.idle), self.source.clone());
        let (permits, outage) = (Arc::clone(&self.permits), Arc::clone(&self.outage));
        Box::pin(async move {
            let permit = permits.acquire_owned().await.map_err(|_| StoreError::Closed)?;
            let task = move || {
                let (mut loan, rested) = BorrowedConnection::take(&idle).ok_or(StoreError::Busy)?;
                let result = loan.reconnect(&source, rested).and_then(|()| run_on(&loan, read));
                // In this order: whoever gets the permit next finds a connection.
                drop(loan);
                drop(permit);
                outage.note(&result);
                result
            };
            let joined = tokio::task::spawn_blocking(task).await;
            joined.unwrap_or_else(|_| Err(StoreError::Corrupt("a read panicked".into())))
        })
    }
}

fn run_on<T>(
    loan: &BorrowedConnection,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let connection = loan.connection.as_ref().ok_or(StoreError::Busy)?;
    let snapshot = Snapshot::begin(connection)?;
    let result = read(connection);
    drop(snapshot);
    result
}

/// One state of the database for all statements of a read; and the file's locks are taken once, not
/// for each of them, which for many small ones costs more than they do.
struct Snapshot<'a>(&'a Connection);

impl<'a> Snapshot<'a> {
    fn begin(connection: &'a Connection) -> Result<Self, StoreError> {
        connection.begin_reading()?;
        Ok(Self(connection))
    }
}

impl Drop for Snapshot<'_> {
    /// Also when the read panics: the next one must not see the old state.
    fn drop(&mut self) {
        match self.0.end_reading() {
            Ok(()) => {}
            // Then there is nothing to end.
            Err(error) if self.0.is_lost() => tracing::debug!(%error, "a read did not end"),
            Err(error) => tracing::error!(%error, "a read did not end"),
        }
    }
}
