//! Shares the connections for reports between tenants. A free connection goes to a background job,
//! else to the waiting tenant that has used the least reading time (start-time fair queueing).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::Tenant;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::metrics::Stopwatch;

/// Waiting reads per tenant. Further ones are refused.
const MAX_WAITING: usize = 64;
/// A read that waits longer is refused.
const MAX_WAIT: Duration = Duration::from_secs(10);

tokio::task_local! {
    static READER: OnceLock<Tenant>;
}

/// Runs a request. [`set_reader`] attributes its reports to a tenant.
pub async fn with_reader<T>(request: impl Future<Output = T>) -> T {
    READER.scope(OnceLock::new(), request).await
}

/// Attributes the reports that the current request reads to a tenant. Background jobs have none.
pub fn set_reader(tenant: &Tenant) {
    // The first tenant counts. Outside of a request there is nothing to set.
    let _ = READER.try_with(|reader| reader.get_or_init(|| tenant.clone()).clone());
}

/// The tenant that reports are attributed to.
pub fn current_reader() -> Option<Tenant> {
    READER.try_with(|reader| reader.get().cloned()).ok().flatten()
}

/// Continues a request's reads in another task or in the body of its response.
pub async fn read_as<T>(tenant: Option<Tenant>, work: impl Future<Output = T>) -> T {
    READER.scope(tenant.map(OnceLock::from).unwrap_or_default(), work).await
}

#[derive(Clone)]
pub(crate) struct ReadQueue(Arc<Mutex<Lanes>>);

struct Lanes {
    free: usize,
    /// Connections that one tenant may hold at a time.
    max_per_tenant: usize,
    by_tenant: HashMap<Option<Tenant>, Lane>,
    /// Reading time of the tenant that was served last. A tenant that was idle starts here, so that
    /// it cannot save up time.
    clock: Duration,
}

#[derive(Default)]
struct Lane {
    running: usize,
    used: Duration,
    waiting: VecDeque<oneshot::Sender<ReadPermit>>,
}

/// The right to use one connection. Returned on drop.
pub(crate) struct ReadPermit {
    queue: ReadQueue,
    tenant: Option<Tenant>,
    since: Stopwatch,
}

impl Drop for ReadPermit {
    fn drop(&mut self) {
        self.queue.release(&self.tenant, self.since.elapsed());
    }
}

impl ReadQueue {
    pub(crate) fn new(connections: usize, max_per_tenant: usize) -> Self {
        let lanes = Lanes {
            free: connections,
            max_per_tenant: max_per_tenant.clamp(1, connections),
            by_tenant: HashMap::new(),
            clock: Duration::ZERO,
        };
        Self(Arc::new(Mutex::new(lanes)))
    }

    /// Waits for a connection. The limits do not apply to background jobs and commands, which read
    /// for no tenant.
    pub(crate) async fn acquire(&self, tenant: Option<Tenant>) -> Result<ReadPermit, StoreError> {
        let is_limited = tenant.is_some();
        let granted = {
            let mut lanes = self.0.lock();
            let lane = lanes.lane(&tenant);
            lane.waiting.retain(|waiting| !waiting.is_closed());
            if is_limited && lane.waiting.len() >= MAX_WAITING {
                return Err(StoreError::TooManyReads);
            }
            let (sender, granted) = oneshot::channel();
            lane.waiting.push_back(sender);
            granted
        };
        self.serve();
        if !is_limited {
            return granted.await.map_err(|_| StoreError::Closed);
        }
        match tokio::time::timeout(MAX_WAIT, granted).await {
            Ok(permit) => permit.map_err(|_| StoreError::Closed),
            Err(_) => Err(StoreError::ReadTimeout),
        }
    }

    fn release(&self, tenant: &Option<Tenant>, used: Duration) {
        {
            let mut lanes = self.0.lock();
            lanes.free += 1;
            let lane = lanes.lane(tenant);
            lane.running -= 1;
            lane.used += used;
        }
        self.serve();
    }

    /// Hands out free connections.
    fn serve(&self) {
        loop {
            let next = self.0.lock().next_read();
            let Some((tenant, waiting)) = next else { return };
            let permit = ReadPermit { queue: self.clone(), tenant, since: Stopwatch::start() };
            // A reader that has left drops its permit, outside of the lock.
            drop(waiting.send(permit));
        }
    }
}

impl Lanes {
    fn lane(&mut self, tenant: &Option<Tenant>) -> &mut Lane {
        let used = self.clock;
        self.by_tenant.entry(tenant.clone()).or_insert_with(|| Lane { used, ..Lane::default() })
    }

    /// Takes the next read and counts it as running.
    fn next_read(&mut self) -> Option<(Option<Tenant>, oneshot::Sender<ReadPermit>)> {
        let clock = self.clock;
        // An idle tenant is known only while it is ahead of the others.
        self.by_tenant.retain(|_, lane| {
            lane.waiting.retain(|waiting| !waiting.is_closed());
            lane.running > 0 || !lane.waiting.is_empty() || lane.used > clock
        });
        if self.free == 0 {
            return None;
        }
        let max = self.max_per_tenant;
        let ready = self.by_tenant.iter_mut();
        let ready = ready.filter(|(_, lane)| lane.running < max && !lane.waiting.is_empty());
        // Background jobs are few, and requests of all tenants depend on what they read.
        let (tenant, lane) = ready.min_by_key(|(tenant, lane)| (tenant.is_some(), lane.used))?;
        let waiting = lane.waiting.pop_front()?;
        lane.running += 1;
        self.clock = clock.max(lane.used);
        let tenant = tenant.clone();
        self.free -= 1;
        Some((tenant, waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(name: &str) -> Option<Tenant> {
        Some(Tenant::new(name.to_owned()).unwrap())
    }

    /// Starts a read that waits, and reports its name once it has a connection.
    async fn queue_read(
        queue: &ReadQueue,
        name: &'static str,
        log: &Arc<Mutex<Vec<&'static str>>>,
    ) -> tokio::task::JoinHandle<Result<(), StoreError>> {
        let (queue, log) = (queue.clone(), Arc::clone(log));
        let read = async move {
            let permit = queue.acquire(tenant(name)).await?;
            log.lock().push(name);
            tokio::time::sleep(Duration::from_millis(2)).await;
            drop(permit);
            Ok(())
        };
        #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
        let read = tokio::spawn(read);
        tokio::task::yield_now().await;
        read
    }

    #[tokio::test]
    async fn tenant_with_one_read_does_not_wait_for_many_of_another() {
        let queue = ReadQueue::new(1, 1);
        let log = Arc::default();
        let held = queue.acquire(tenant("greedy")).await.unwrap();
        let mut reads = Vec::new();
        for _ in 0..20 {
            reads.push(queue_read(&queue, "greedy", &log).await);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
        reads.push(queue_read(&queue, "modest", &log).await);
        drop(held);
        for read in reads {
            read.await.unwrap().unwrap();
        }
        assert_eq!(log.lock()[0], "modest", "it used less time");
        assert_eq!(log.lock().len(), 21);
    }

    #[tokio::test]
    async fn one_tenant_cannot_hold_every_connection() {
        let queue = ReadQueue::new(3, 2);
        let _two = (queue.acquire(tenant("a")).await, queue.acquire(tenant("a")).await);
        let third = tokio::time::timeout(Duration::from_millis(20), queue.acquire(tenant("a")));
        assert!(third.await.is_err(), "a third connection of one tenant");
        let other = tokio::time::timeout(Duration::from_secs(5), queue.acquire(tenant("b"))).await;
        assert!(matches!(other, Ok(Ok(_))));
    }

    #[tokio::test]
    async fn reads_over_the_limit_are_refused_and_readers_that_left_are_skipped() {
        let queue = ReadQueue::new(1, 1);
        let log = Arc::default();
        let held = queue.acquire(tenant("a")).await.unwrap();
        let mut reads = Vec::new();
        for _ in 0..MAX_WAITING {
            reads.push(queue_read(&queue, "a", &log).await);
        }
        assert!(matches!(queue.acquire(tenant("a")).await, Err(StoreError::TooManyReads)));
        reads.drain(1..).for_each(|read| read.abort());
        tokio::task::yield_now().await;
        drop(held);
        reads.pop().unwrap().await.unwrap().unwrap();
        assert_eq!(log.lock().len(), 1);
        let again = tokio::time::timeout(Duration::from_secs(5), queue.acquire(tenant("a"))).await;
        assert!(matches!(again, Ok(Ok(_))), "the connection is free again");
        assert!(queue.0.lock().by_tenant.len() <= 1);
    }
}
