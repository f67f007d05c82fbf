//! The handle of the writer thread. Requests that wait at the same time share one commit, so each
//! group pays for one fsync.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use model::{Position, Write};
use parking_lot::Mutex;
use sql::Connection;
use tokio::sync::{Semaphore, TryAcquireError, mpsc, oneshot, watch};

use crate::connection_source::Source;
use crate::error::StoreError;
use crate::event_rows::newest_position;
use crate::log::Limits;
use crate::log::own_positions::{ForeignRange, OwnPositions};
use crate::log::packed_write::PackedWrite;
use crate::log::queue::{Answer, Job, Queue, Submission};
use crate::log::writer_state::WriterState;
use crate::log::writer_thread::{Meters, WriterThread};
use crate::metrics::{LogStats, Stopwatch};
use crate::similarity::{SimilarityIndexes, Touched};

pub(crate) struct Writer {
    queue: Mutex<Option<mpsc::UnboundedSender<Job>>>,
    room: Arc<Semaphore>,
    room_kib: u32,
    head: watch::Receiver<Position>,
    own: Arc<OwnPositions>,
    meters: Arc<Meters>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(crate) fn start(
        connection: Connection,
        source: Source,
        limits: Limits,
        touched: Touched,
        similar: Arc<SimilarityIndexes>,
    ) -> Result<Self, StoreError> {
        let cursor = WriterState::new(newest_position(&connection)?);
        let (announce, head) = watch::channel(cursor.head);
        let meters = Arc::new(Meters::new());
        let own = Arc::new(OwnPositions::default());
        let room_kib = u32::try_from(limits.queue_bytes / 1024).unwrap_or(u32::MAX).max(1);
        let (queue, jobs) = mpsc::unbounded_channel();
        let mut work = WriterThread {
            cursor,
            announce,
            own: Arc::clone(&own),
            meters: Arc::clone(&meters),
            group_writes: limits.group_writes,
            touched,
            similar,
            source,
            connection,
        };
        let thread = std::thread::Builder::new()
            .name("uptake-writer".into())
            .spawn(move || work.run(Queue::new(jobs)))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self {
            queue: Mutex::new(Some(queue)),
            room: Arc::new(Semaphore::new(room_kib as usize)),
            room_kib,
            head,
            own,
            meters,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Queues the writes, or returns `Busy`.
    pub(crate) fn submit(
        &self,
        writes: Vec<Write>,
    ) -> Result<oneshot::Receiver<Answer>, StoreError> {
        let writes: Vec<PackedWrite> = writes.into_iter().map(PackedWrite::new).collect();
        let bytes: usize = writes.iter().map(PackedWrite::bytes).sum();
        // A submission larger than the queue needs the queue for itself.
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).min(self.room_kib);
        let room =
            Arc::clone(&self.room).try_acquire_many_owned(kib).map_err(|error| match error {
                TryAcquireError::NoPermits => StoreError::Busy,
                TryAcquireError::Closed => StoreError::Closed,
            })?;
        let (reply, answer) = oneshot::channel();
        self.meters.queued_writes.fetch_add(writes.len() as u64, Ordering::Relaxed);
        self.send(Job::Commit(Submission { writes, reply, room, queued: Stopwatch::start() }))?;
        Ok(answer)
    }

    /// Runs a job on the writer's connection, between two groups.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        chore: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::ConnectionTask(Box::new(move |connection| {
            // The caller may have dropped the receiver.
            drop(reply.send(chore(connection)));
        })))?;
        let came_of = answer.await.map_err(|_| StoreError::Closed)?;
        // Success proves nothing, because the job may not have used the connection.
        if let Err(error) = &came_of
            && error.is_away()
        {
            self.meters.outage.record_failure(error, 1);
        }
        came_of
    }

    /// Notifies the thread that another node has written up to `head`.
    #[cfg(feature = "scaled")]
    pub(crate) fn notify_foreign_head(queue: &mpsc::WeakUnboundedSender<Job>, head: Position) {
        if let Some(queue) = queue.upgrade() {
            // A send fails only when the thread has ended.
            drop(queue.send(Job::ForeignHead(head)));
        }
    }

    /// A weak sender, which does not keep the thread alive.
    #[cfg(feature = "scaled")]
    pub(crate) fn weak_queue(&self) -> Option<mpsc::WeakUnboundedSender<Job>> {
        self.queue.lock().as_ref().map(mpsc::UnboundedSender::downgrade)
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        let queue = self.queue.lock();
        let queue = queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(job).map_err(|_| StoreError::Closed)
    }

    /// Watches the newest durable position.
    pub(crate) fn watch(&self) -> watch::Receiver<Position> {
        self.head.clone()
    }

    /// The positions after `after` that other nodes may have committed.
    pub(crate) fn foreign_range(&self, after: Position) -> ForeignRange {
        self.own.skip(after)
    }

    /// True after a commit, when the last one succeeded.
    pub(crate) fn is_well(&self) -> bool {
        let meters = &self.meters;
        !meters.in_trouble.load(Ordering::Relaxed) && !meters.untried.load(Ordering::Relaxed)
    }

    /// Records a successful test write.
    pub(crate) fn was_tried(&self) {
        self.meters.untried.store(false, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> LogStats {
        let free = self.room.available_permits() as u64;
        LogStats {
            queued_writes: self.meters.queued_writes.load(Ordering::Relaxed),
            queued_bytes: u64::from(self.room_kib).saturating_sub(free) * 1024,
            commit_seconds: self.meters.commit_seconds.snapshot(),
            commit_writes: self.meters.commit_writes.snapshot(),
            commit_bytes: self.meters.commit_bytes.snapshot(),
            commit_statements: self.meters.commit_statements.snapshot(),
            wait_seconds: self.meters.wait_seconds.snapshot(),
            failed_commits: self.meters.failed_commits.load(Ordering::Relaxed),
        }
    }

    /// Closes the queue and waits until the thread has finished it.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        self.queue.lock().take();
        let Some(thread) = self.thread.lock().take() else { return Ok(()) };
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        match joined {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(StoreError::Unavailable("the writer panicked".into())),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.lock().take();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the writer thread panicked");
        }
    }
}
