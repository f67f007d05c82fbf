//! The one thread that writes. Requests that wait at the same time share one commit, so durability
//! is paid once per group instead of once per request.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use model::{Outcome, Position, Write};
use sql::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, mpsc, oneshot, watch};

use crate::connection_source::Source;
use crate::error::StoreError;
use crate::event_rows::newest_position;
use crate::log::Limits;
use crate::log::packed_write::PackedWrite;
use crate::log::queue::Queue;
use crate::log::writer_state::WriterState;
use crate::log::writer_thread::WriterThread;
use crate::metrics::{Histogram, LogStats, SECONDS, SIZES};
use crate::outage::Outage;
use crate::similarity::{SimilarityIndexes, Touched};

/// What a caller waits for.
pub(crate) type Answer = Result<Vec<Outcome>, StoreError>;

pub(crate) struct Submission {
    pub(crate) writes: Vec<PackedWrite>,
    pub(crate) reply: oneshot::Sender<Answer>,
    // Room in the queue, given back before the submission is answered.
    pub(crate) room: OwnedSemaphorePermit,
}

/// Something else that needs the writing connection, between two groups.
type ConnectionTask = Box<dyn FnOnce(&mut Connection) + Send>;

pub(crate) enum Job {
    Commit(Submission),
    ConnectionTask(ConnectionTask),
    /// Somebody else has written up to here.
    #[cfg_attr(not(feature = "scaled"), expect(dead_code, reason = "nobody else writes"))]
    ForeignHead(Position),
}

/// The way to the writer thread.
pub(crate) struct Writer {
    queue: Mutex<Option<mpsc::UnboundedSender<Job>>>,
    room: Arc<Semaphore>,
    room_kib: u32,
    head: watch::Receiver<Position>,
    meters: Arc<Meters>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

pub(crate) struct Meters {
    pub(crate) commit_seconds: Histogram,
    pub(crate) commit_writes: Histogram,
    pub(crate) failed_commits: AtomicU64,
    pub(crate) queued_writes: AtomicU64,
    pub(crate) in_trouble: AtomicBool,
    // Nothing was written since the start: a disk that was full then may be so still.
    pub(crate) untried: AtomicBool,
    pub(crate) outage: Outage,
}

impl Writer {
    /// Starts the thread on its connection.
    pub(crate) fn start(
        connection: Connection,
        source: Source,
        limits: Limits,
        touched: Touched,
        similar: Arc<SimilarityIndexes>,
    ) -> Result<Self, StoreError> {
        let cursor = WriterState::new(newest_position(&connection)?);
        let (announce, head) = watch::channel(cursor.head);
        let meters = Arc::new(Meters {
            commit_seconds: Histogram::new(SECONDS),
            commit_writes: Histogram::new(SIZES),
            failed_commits: AtomicU64::new(0),
            queued_writes: AtomicU64::new(0),
            in_trouble: AtomicBool::new(false),
            untried: AtomicBool::new(true),
            outage: Outage::new("written to"),
        });
        let room_kib = u32::try_from(limits.queue_bytes / 1024).unwrap_or(u32::MAX).max(1);
        let (queue, jobs) = mpsc::unbounded_channel();
        let mut work = WriterThread {
            cursor,
            announce,
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
            meters,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Puts the writes into the queue, if there is room.
    pub(crate) fn submit(
        &self,
        writes: Vec<Write>,
    ) -> Result<oneshot::Receiver<Answer>, StoreError> {
        let writes: Vec<PackedWrite> = writes.into_iter().map(PackedWrite::new).collect();
        let bytes: usize = writes.iter().map(PackedWrite::bytes).sum();
        // One submission may be larger than the whole queue; then it must have the queue alone.
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).min(self.room_kib);
        let room =
            Arc::clone(&self.room).try_acquire_many_owned(kib).map_err(|error| match error {
                TryAcquireError::NoPermits => StoreError::Busy,
                TryAcquireError::Closed => StoreError::Closed,
            })?;
        let (reply, answer) = oneshot::channel();
        self.meters.queued_writes.fetch_add(writes.len() as u64, Ordering::Relaxed);
        self.send(Job::Commit(Submission { writes, reply, room }))?;
        Ok(answer)
    }

    /// Runs something on the writing connection, between two groups.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        chore: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::ConnectionTask(Box::new(move |connection| {
            // Whoever asked may have gone; then nobody needs the answer.
            drop(reply.send(chore(connection)));
        })))?;
        let came_of = answer.await.map_err(|_| StoreError::Closed)?;
        // One that went well may have asked nothing.
        if let Err(error) = &came_of
            && error.is_away()
        {
            self.meters.outage.record_failure(error, 1);
        }
        came_of
    }

    /// Somebody else has written up to here.
    #[cfg(feature = "scaled")]
    pub(crate) fn notify_foreign_head(queue: &mpsc::WeakUnboundedSender<Job>, head: Position) {
        if let Some(queue) = queue.upgrade() {
            // The thread has ended when it does not listen any more.
            drop(queue.send(Job::ForeignHead(head)));
        }
    }

    /// The way to the thread for somebody who does not keep it alive.
    #[cfg(feature = "scaled")]
    pub(crate) fn weak_queue(&self) -> Option<mpsc::WeakUnboundedSender<Job>> {
        locked(&self.queue).as_ref().map(mpsc::UnboundedSender::downgrade)
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        let queue = locked(&self.queue);
        let queue = queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(job).map_err(|_| StoreError::Closed)
    }

    /// Tells the newest position that is on disk.
    pub(crate) fn watch(&self) -> watch::Receiver<Position> {
        self.head.clone()
    }

    /// Whether there was a commit, and the last one met no trouble with the disk or the file.
    pub(crate) fn is_well(&self) -> bool {
        let meters = &self.meters;
        !meters.in_trouble.load(Ordering::Relaxed) && !meters.untried.load(Ordering::Relaxed)
    }

    /// Something could be written.
    pub(crate) fn was_tried(&self) {
        self.meters.untried.store(false, Ordering::Relaxed);
    }

    /// How it is doing.
    pub(crate) fn stats(&self) -> LogStats {
        let free = self.room.available_permits() as u64;
        LogStats {
            queued_writes: self.meters.queued_writes.load(Ordering::Relaxed),
            queued_bytes: u64::from(self.room_kib).saturating_sub(free) * 1024,
            commit_seconds: self.meters.commit_seconds.snapshot(),
            commit_writes: self.meters.commit_writes.snapshot(),
            failed_commits: self.meters.failed_commits.load(Ordering::Relaxed),
        }
    }

    /// Lets the thread finish what is queued and waits for it.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        locked(&self.queue).take();
        let Some(thread) = locked(&self.thread).take() else { return Ok(()) };
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        match joined {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(StoreError::Unavailable("the writer panicked".into())),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        locked(&self.queue).take();
        if let Some(thread) = locked(&self.thread).take()
            && thread.join().is_err()
        {
            tracing::error!("the writer thread panicked");
        }
    }
}

/// None of what these locks guard can be left half-changed, so a panic elsewhere does not matter.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
