//! Pools of connections for reading: one for lookups of a few rows, which writes wait for, and one
//! for reports, which read many. Lookups never wait for reports. SQLite and Postgres calls block, so
//! reads run on blocking threads. Hand-written because `deadpool` pools async connections.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sql::Connection;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::connection_source::Source;
use crate::error::{StoreError, Task};
use crate::metrics::Stopwatch;
use crate::outage::Outage;

/// Reads of up to this many turns run on the calling thread.
const SHORT_READ_ROWS: usize = 20;

pub struct ReadPool {
    lookups: Connections,
    reports: Connections,
    outage: Arc<Outage>,
}

/// One permit per connection; further reads wait.
struct Connections {
    source: Source,
    purpose: Purpose,
    idle: Idle,
    permits: Arc<Semaphore>,
}

/// The planner settings of a connection depend on its purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Lookup,
    Report,
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
    fn reconnect(
        &mut self,
        source: &Source,
        purpose: Purpose,
        rested: Duration,
    ) -> Result<(), StoreError> {
        let lost = self.connection.as_ref().is_none_or(|connection| {
            connection.is_lost() || (rested > IDLE_CHECK_AFTER && !connection.answers())
        });
        if lost {
            self.connection = Some(source.reader(purpose)?);
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

impl Connections {
    fn open(source: &Source, purpose: Purpose, size: usize) -> Result<Self, StoreError> {
        let size = size.max(1);
        let connections = (0..size).map(|_| source.reader(purpose).map(IdleConnection::new));
        let idle = connections.collect::<Result<Vec<_>, _>>()?;
        let idle = Arc::new(Mutex::new(idle));
        Ok(Self { source: source.clone(), purpose, idle, permits: Arc::new(Semaphore::new(size)) })
    }

    /// Borrows a connection, if one is free.
    fn try_borrow(&self) -> Option<(BorrowedConnection, SemaphorePermit<'_>)> {
        let permit = self.permits.try_acquire().ok()?;
        BorrowedConnection::take(&self.idle).map(|(loan, _)| (loan, permit))
    }

    /// Runs a read on a blocking thread, as soon as a connection is free.
    fn run<T: Send + 'static>(
        &self,
        outage: Arc<Outage>,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        let (idle, source, purpose) = (Arc::clone(&self.idle), self.source.clone(), self.purpose);
        let permits = Arc::clone(&self.permits);
        Box::pin(async move {
            let permit = permits.acquire_owned().await.map_err(|_| StoreError::Closed)?;
            let task = move || {
                let (mut loan, rested) = BorrowedConnection::take(&idle).ok_or(StoreError::Busy)?;
                let result =
                    loan.reconnect(&source, purpose, rested).and_then(|()| run_on(&loan, read));
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

impl ReadPool {
    /// Opens `size` connections for each purpose.
    pub(crate) fn open(source: &Source, size: usize) -> Result<Self, StoreError> {
        Ok(Self {
            lookups: Connections::open(source, Purpose::Lookup, size)?,
            reports: Connections::open(source, Purpose::Report, size)?,
            outage: Arc::new(Outage::new("read")),
        })
    }

    #[cfg(feature = "scaled")]
    pub(crate) fn source(&self) -> &Source {
        &self.reports.source
    }

    /// Runs a read of one or two rows. On SQLite it takes microseconds and runs on the calling
    /// thread, unless all connections for lookups are borrowed.
    pub(crate) fn run_short<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        if self.lookups.source.is_local()
            && let Some((loan, _permit)) = self.lookups.try_borrow()
        {
            let result = run_on(&loan, read);
            self.outage.note(&result);
            return Box::pin(std::future::ready(result));
        }
        self.lookups.run(Arc::clone(&self.outage), read)
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
        self.reports.run(Arc::clone(&self.outage), read)
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
