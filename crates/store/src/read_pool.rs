//! A pool of connections for reading. SQLite and Postgres calls block, so reads run on blocking
//! threads. Hand-written because `deadpool` pools async connections.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sql::Connection;
use tokio::sync::Semaphore;

use crate::connection_source::Source;
use crate::error::{StoreError, Task};
use crate::metrics::Stopwatch;
use crate::outage::Outage;

/// Reads of up to this many turns run on the calling thread.
const SHORT_READ_ROWS: usize = 20;

/// One permit per connection; further reads wait.
pub struct ReadPool {
    source: Source,
    idle: Idle,
    permits: Arc<Semaphore>,
    outage: Arc<Outage>,
}

type Idle = Arc<Mutex<Vec<IdleConnection>>>;

struct IdleConnection {
    connection: Connection,
    since: Stopwatch,
}

impl IdleConnection {
    fn new(connection: Connection) -> Self {
        Self { connection, since: Stopwatch::start() }
    }
}

/// A connection idle for longer is pinged before use.
const IDLE_CHECK_AFTER: Duration = Duration::from_secs(1);

/// A borrowed connection. It returns to the pool even when the read panics.
struct BorrowedConnection {
    connection: Option<Connection>,
    idle: Idle,
}

impl BorrowedConnection {
    fn take(idle: &Idle) -> Option<(Self, Duration)> {
        let IdleConnection { connection, since } = idle.lock().pop()?;
        let loan = Self { connection: Some(connection), idle: Arc::clone(idle) };
        Some((loan, since.elapsed()))
    }

    /// Replaces the connection when it was idle for long and no longer answers.
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
        let mut idle = self.idle.lock();
        idle.extend(self.connection.take().map(IdleConnection::new));
    }
}

impl ReadPool {
    pub(crate) fn open(source: &Source, size: usize) -> Result<Self, StoreError> {
        let size = size.max(1);
        let connections = (0..size).map(|_| source.reader().map(IdleConnection::new));
        let idle = connections.collect::<Result<Vec<_>, _>>()?;
        let permits = Arc::new(Semaphore::new(size));
        let (idle, outage) = (Arc::new(Mutex::new(idle)), Arc::new(Outage::new("read")));
        Ok(Self { source: source.clone(), idle, permits, outage })
    }

    /// Runs a read of one or two rows on the calling thread, where it takes microseconds. When all
    /// connections are borrowed, the read waits on a blocking thread.
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

    /// Runs a read of at most `turns` turns, as a short read when there are few.
    pub(crate) fn run_some<T: Send + 'static>(
        &self,
        turns: usize,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        if turns <= SHORT_READ_ROWS { self.run_short(read) } else { self.run(read) }
    }

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
                // The connection returns before the permit, so the next holder finds one.
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
    connection.begin_reading()?;
    let _snapshot = Snapshot(connection);
    read(connection)
}

/// One snapshot for all statements of a read. It also takes the file locks only once.
struct Snapshot<'a>(&'a Connection);

impl Drop for Snapshot<'_> {
    /// Ends the snapshot even when the read panics, so the next read sees the newest state.
    fn drop(&mut self) {
        match self.0.end_reading() {
            Ok(()) => {}
            // A lost connection has no transaction to end.
            Err(error) if self.0.is_lost() => {
                tracing::debug!(%error, "ending a read transaction failed")
            }
            Err(error) => tracing::error!(%error, "ending a read transaction failed"),
        }
    }
}
