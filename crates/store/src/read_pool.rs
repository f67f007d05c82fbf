//! Pools of connections for reading: one for lookups of a few rows, which writes wait for, and one
//! for reports, which read many. Lookups never wait for reports. Tenants share the connections for
//! reports ([`ReadQueue`]). SQLite and Postgres calls block, so reads run on blocking threads.
//! A report is cancelled when its caller leaves. Hand-written because `deadpool` pools async
//! connections.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sql::{Connection, CurrentRead};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::connection_source::{Purpose, Source};
use crate::error::{StoreError, Task};
use crate::metrics::Stopwatch;
use crate::outage::Outage;
use crate::read_queue::{ReadQueue, current_reader};

/// Reads of up to this many turns run on the calling thread.
const SHORT_READ_ROWS: usize = 20;
/// Reports that one tenant reads at a time.
const MAX_TENANT_READS: usize = 4;

pub struct ReadPool {
    lookups: Connections,
    /// One permit per connection for lookups; further ones wait.
    lookup_permits: Arc<Semaphore>,
    reports: Connections,
    report_queue: ReadQueue,
    outage: Arc<Outage>,
}

struct Connections {
    source: Source,
    purpose: Purpose,
    idle: Idle,
}

type Idle = Arc<Mutex<Vec<IdleConnection>>>;

struct IdleConnection {
    connection: ReadConnection,
    since: Stopwatch,
}

struct ReadConnection {
    sql: Connection,
    current: CurrentRead,
}

impl ReadConnection {
    fn open(source: &Source, purpose: Purpose) -> Result<Self, StoreError> {
        let (mut sql, current) = (source.reader(purpose)?, CurrentRead::default());
        sql.watch(current.clone())?;
        Ok(Self { sql, current })
    }
}

/// A connection idle for longer is pinged before use.
const IDLE_CHECK_AFTER: Duration = Duration::from_secs(1);

/// A borrowed connection. It returns to the pool even when the read panics.
struct BorrowedConnection {
    connection: Option<ReadConnection>,
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
            let sql = &connection.sql;
            sql.is_lost() || (rested > IDLE_CHECK_AFTER && !sql.answers())
        });
        if lost {
            self.connection = Some(ReadConnection::open(source, purpose)?);
        }
        Ok(())
    }
}

impl Drop for BorrowedConnection {
    fn drop(&mut self) {
        let since = Stopwatch::start();
        let returned = self.connection.take();
        let returned = returned.map(|connection| IdleConnection { connection, since });
        self.idle.lock().extend(returned);
    }
}

impl Connections {
    fn open(source: &Source, purpose: Purpose, size: usize) -> Result<Self, StoreError> {
        let open = |_| {
            let connection = ReadConnection::open(source, purpose)?;
            Ok(IdleConnection { connection, since: Stopwatch::start() })
        };
        let idle = (0..size).map(open).collect::<Result<Vec<_>, StoreError>>()?;
        Ok(Self { source: source.clone(), purpose, idle: Arc::new(Mutex::new(idle)) })
    }

    /// Runs a read on a blocking thread, with a permit for a connection. Cancels it when the future
    /// is dropped.
    async fn run<T: Send + 'static>(
        &self,
        permit: impl Send + 'static,
        outage: Arc<Outage>,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (idle, source, purpose) = (Arc::clone(&self.idle), self.source.clone(), self.purpose);
        let cancellation = CancellationToken::new();
        let _caller_left = cancellation.clone().drop_guard();
        let task = move || {
            let (mut loan, rested) = BorrowedConnection::take(&idle).ok_or(StoreError::Busy)?;
            let result = loan
                .reconnect(&source, purpose, rested)
                .and_then(|()| run_on(&loan, Some(&cancellation), read));
            // The connection returns before the permit, so the next holder finds one.
            drop(loan);
            drop(permit);
            if !cancellation.is_cancelled() {
                outage.note(&result);
            }
            result
        };
        let joined = tokio::task::spawn_blocking(task).await;
        joined.unwrap_or_else(|_| Err(StoreError::Corrupt("a read panicked".into())))
    }
}

impl ReadPool {
    /// Opens `size` connections for each purpose.
    pub(crate) fn open(source: &Source, size: usize) -> Result<Self, StoreError> {
        let size = size.max(1);
        let max_per_tenant = MAX_TENANT_READS.min(size.div_ceil(2));
        Ok(Self {
            lookups: Connections::open(source, Purpose::Lookup, size)?,
            lookup_permits: Arc::new(Semaphore::new(size)),
            reports: Connections::open(source, Purpose::Report, size)?,
            report_queue: ReadQueue::new(size, max_per_tenant),
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
            && let Some((loan, _permit)) = self.try_borrow()
        {
            let result = run_on(&loan, None, read);
            self.outage.note(&result);
            return Box::pin(std::future::ready(result));
        }
        Box::pin(async move {
            let permit = Arc::clone(&self.lookup_permits).acquire_owned().await;
            let permit = permit.map_err(|_| StoreError::Closed)?;
            self.lookups.run(permit, Arc::clone(&self.outage), read).await
        })
    }

    /// Borrows a connection for lookups, if one is free.
    fn try_borrow(&self) -> Option<(BorrowedConnection, SemaphorePermit<'_>)> {
        let permit = self.lookup_permits.try_acquire().ok()?;
        BorrowedConnection::take(&self.lookups.idle).map(|(loan, _)| (loan, permit))
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
        Box::pin(async move {
            let permit = self.report_queue.acquire(current_reader()).await?;
            self.reports.run(permit, Arc::clone(&self.outage), read).await
        })
    }
}

fn run_on<T>(
    loan: &BorrowedConnection,
    cancellation: Option<&CancellationToken>,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let ReadConnection { sql, current } = loan.connection.as_ref().ok_or(StoreError::Busy)?;
    sql.begin_reading()?;
    let _snapshot = Snapshot { sql, current };
    if let Some(token) = cancellation {
        current.begin(token.clone());
    }
    read(sql)
}

/// One snapshot for all statements of a read. It also takes the file locks only once.
struct Snapshot<'a> {
    sql: &'a Connection,
    current: &'a CurrentRead,
}

impl Drop for Snapshot<'_> {
    /// Ends the snapshot even when the read panics, so the next read sees the newest state.
    fn drop(&mut self) {
        // First, so that a cancelled read is ended too.
        self.current.end();
        match self.sql.end_reading() {
            Ok(()) => {}
            // A lost connection has no transaction to end.
            Err(error) if self.sql.is_lost() => {
                tracing::debug!(%error, "ending a read transaction failed")
            }
            Err(error) => tracing::error!(%error, "ending a read transaction failed"),
        }
    }
}
