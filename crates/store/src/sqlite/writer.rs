//! The one thread that writes. Requests that wait at the same time share one commit, so durability
//! is paid once per group instead of once per request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use event::{Outcome, Position, Write};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, mpsc, oneshot, watch};

use super::Limits;
#[cfg(feature = "scaled")]
use super::ahead;
use super::append::{Cursor, Prepared, append};
use super::dead_letters;
use super::events::newest;
use super::head;
use super::similar::{Shelves, Touched};
use super::source::Source;
use crate::error::StoreError;
use crate::meter::{Histogram, LogStats, SECONDS, SIZES, Stopwatch};
use crate::sql::{self, Connection};

/// What a caller waits for.
pub(super) type Answer = Result<Vec<Outcome>, StoreError>;

pub(super) struct Submission {
    writes: Vec<Prepared>,
    reply: oneshot::Sender<Answer>,
    // Room in the queue, given back before the submission is answered.
    room: OwnedSemaphorePermit,
}

/// Something else that needs the writing connection, between two groups.
type Chore = Box<dyn FnOnce(&mut Connection) + Send>;

pub(super) enum Job {
    Commit(Submission),
    Chore(Chore),
    /// Somebody else has written up to here.
    #[cfg_attr(not(feature = "scaled"), expect(dead_code, reason = "nobody else writes"))]
    Look(Position),
}

/// The way to the writer thread.
pub(super) struct Writer {
    queue: Mutex<Option<mpsc::UnboundedSender<Job>>>,
    room: Arc<Semaphore>,
    room_kib: u32,
    head: watch::Receiver<Position>,
    meters: Arc<Meters>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Meters {
    commit_seconds: Histogram,
    commit_writes: Histogram,
    failed_commits: AtomicU64,
    queued_writes: AtomicU64,
    in_trouble: AtomicBool,
}

impl Writer {
    /// Starts the thread on its connection.
    pub(super) fn start(
        connection: Connection,
        source: Source,
        limits: Limits,
        touched: Touched,
        similar: Arc<Shelves>,
    ) -> Result<Self, StoreError> {
        let cursor = Cursor::at(newest(&connection)?);
        let (announce, head) = watch::channel(cursor.head);
        let meters = Arc::new(Meters {
            commit_seconds: Histogram::new(SECONDS),
            commit_writes: Histogram::new(SIZES),
            failed_commits: AtomicU64::new(0),
            queued_writes: AtomicU64::new(0),
            in_trouble: AtomicBool::new(false),
        });
        let room_kib = u32::try_from(limits.queue_bytes / 1024).unwrap_or(u32::MAX).max(1);
        let (queue, jobs) = mpsc::unbounded_channel();
        let mut work = Work {
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
            .spawn(move || work.run(jobs))
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
    pub(super) fn submit(
        &self,
        writes: Vec<Write>,
    ) -> Result<oneshot::Receiver<Answer>, StoreError> {
        let writes: Vec<Prepared> = writes.into_iter().map(Prepared::new).collect();
        let bytes: usize = writes.iter().map(Prepared::bytes).sum();
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
    pub(super) async fn run<T: Send + 'static>(
        &self,
        chore: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Chore(Box::new(move |connection| {
            // Whoever asked may have gone; then nobody needs the answer.
            drop(reply.send(chore(connection)));
        })))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Somebody else has written up to here.
    #[cfg(feature = "scaled")]
    pub(super) fn look(queue: &mpsc::WeakUnboundedSender<Job>, head: Position) {
        if let Some(queue) = queue.upgrade() {
            // The thread has ended when it does not listen any more.
            drop(queue.send(Job::Look(head)));
        }
    }

    /// The way to the thread for somebody who does not keep it alive.
    #[cfg(feature = "scaled")]
    pub(super) fn weak(&self) -> Option<mpsc::WeakUnboundedSender<Job>> {
        locked(&self.queue).as_ref().map(mpsc::UnboundedSender::downgrade)
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        let queue = locked(&self.queue);
        let queue = queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(job).map_err(|_| StoreError::Closed)
    }

    /// Tells the newest position that is on disk.
    pub(super) fn watch(&self) -> watch::Receiver<Position> {
        self.head.clone()
    }

    /// Whether the last commit met no trouble with the disk or the file.
    pub(super) fn is_well(&self) -> bool {
        !self.meters.in_trouble.load(Ordering::Relaxed)
    }

    /// How it is doing.
    pub(super) fn stats(&self) -> LogStats {
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
    pub(super) async fn close(&self) -> Result<(), StoreError> {
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

struct Work {
    source: Source,
    connection: Connection,
    touched: Touched,
    similar: Arc<Shelves>,
    cursor: Cursor,
    announce: watch::Sender<Position>,
    meters: Arc<Meters>,
    group_writes: usize,
}

impl Work {
    fn run(&mut self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        while let Some(job) = jobs.blocking_recv() {
            self.mend();
            let (group, next) = match job {
                Job::Commit(first) => self.gather(first, &mut jobs),
                other @ (Job::Chore(_) | Job::Look(_)) => (Vec::new(), Some(other)),
            };
            self.commit_and_answer(group);
            match next {
                None | Some(Job::Commit(_)) => {}
                Some(Job::Chore(chore)) => {
                    chore(&mut self.connection);
                    self.keep_in_step();
                }
                Some(Job::Look(head)) => {
                    self.keep_in_step();
                    self.tell(head);
                }
            }
        }
    }

    /// Takes whatever else is waiting, up to the group's size or something else to do.
    fn gather(
        &self,
        first: Submission,
        jobs: &mut mpsc::UnboundedReceiver<Job>,
    ) -> (Vec<Submission>, Option<Job>) {
        let mut writes = first.writes.len();
        let mut group = vec![first];
        while writes < self.group_writes
            && let Ok(next) = jobs.try_recv()
        {
            match next {
                Job::Commit(next) => {
                    writes += next.writes.len();
                    group.push(next);
                }
                other @ (Job::Chore(_) | Job::Look(_)) => return (group, Some(other)),
            }
        }
        (group, None)
    }

    fn commit_and_answer(&mut self, group: Vec<Submission>) {
        if group.is_empty() {
            return;
        }
        let watch = Stopwatch::start();
        let answers = self.commit(&group);
        self.keep_in_step();
        self.meters.commit_seconds.record(watch.elapsed().as_secs_f64());
        let writes: usize = group.iter().map(|submission| submission.writes.len()).sum();
        self.meters.commit_writes.record(writes as f64);
        self.meters.queued_writes.fetch_sub(writes as u64, Ordering::Relaxed);
        self.meters.in_trouble.store(answers.iter().any(Result::is_err), Ordering::Relaxed);
        self.tell(self.cursor.head);
        for (submission, answer) in group.into_iter().zip(answers) {
            let Submission { reply, room, writes } = submission;
            drop((room, writes));
            // A caller that hung up needs no answer; its writes are stored all the same.
            drop(reply.send(answer));
        }
    }

    /// Announces the newest position.
    fn tell(&self, head: Position) {
        self.announce.send_if_modified(|known| {
            let is_new = *known < head;
            *known = head.max(*known);
            is_new
        });
    }

    /// Takes another connection when this one was lost.
    fn mend(&mut self) {
        if self.connection.is_lost() {
            match self.source.writer_again() {
                Ok(Some(connection)) => self.connection = connection,
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "the store is away"),
            }
        }
    }

    /// Puts what was touched into the index in memory, before anybody is answered.
    fn keep_in_step(&mut self) {
        let (similar, connection) = (&self.similar, &self.connection);
        let kept = self.touched.look(connection, |turns| similar.refresh(connection, turns));
        if let Err(error) = kept {
            tracing::error!(%error, "the index of similar turns is behind; tried again");
        }
    }

    /// One transaction for the group. If a single write breaks it, the group is done again with a
    /// savepoint around each write, so that only that one fails.
    fn commit(&mut self, group: &[Submission]) -> Vec<Answer> {
        let error = match self.attempt(group, Care::Quick) {
            Ok(answers) => return answers.into_iter().map(Ok).collect(),
            Err(error) => error,
        };
        if error.is_trouble() {
            return self.refuse(group, &error);
        }
        tracing::warn!(%error, "a write broke its group; trying each write by itself");
        match self.attempt(group, Care::EachBySavepoint) {
            Ok(answers) => answers.into_iter().map(Ok).collect(),
            Err(error) => self.refuse(group, &error),
        }
    }

    fn refuse(&self, group: &[Submission], error: &sql::Error) -> Vec<Answer> {
        self.meters.failed_commits.fetch_add(1, Ordering::Relaxed);
        tracing::error!(%error, submissions = group.len(), "a group could not be committed");
        group.iter().map(|_| Err(StoreError::Unavailable(error.to_string()))).collect()
    }

    fn attempt(&mut self, group: &[Submission], care: Care) -> sql::Result<Vec<Vec<Outcome>>> {
        let before = self.cursor.head;
        // A panic is a bug in one write; the thread and everybody else's writes must outlive it.
        // The transaction is rolled back on the way out.
        let work =
            AssertUnwindSafe(|| attempt(&mut self.connection, &mut self.cursor, group, care));
        let result = catch_unwind(work).unwrap_or(Err(sql::Error::Panicked));
        if result.is_err() {
            self.cursor.head = before;
            self.cursor.forget();
        }
        result
    }
}

#[derive(Clone, Copy)]
enum Care {
    Quick,
    EachBySavepoint,
}

fn attempt(
    connection: &mut Connection,
    cursor: &mut Cursor,
    group: &[Submission],
    care: Care,
) -> sql::Result<Vec<Vec<Outcome>>> {
    let mut transaction = connection.transaction()?;
    cursor.head = head::held(&transaction)?.unwrap_or(cursor.head);
    #[cfg(feature = "scaled")]
    if let Some(session) = transaction.postgres() {
        let writes = group.iter().flat_map(|submission| &submission.writes);
        ahead::look_ahead(&transaction, session, cursor, writes)?;
    }
    let mut answers = Vec::with_capacity(group.len());
    for submission in group {
        let mut outcomes = Vec::with_capacity(submission.writes.len());
        for write in &submission.writes {
            outcomes.push(match care {
                Care::Quick => append(&transaction, cursor, write)?,
                Care::EachBySavepoint => append_alone(&mut transaction, cursor, write)?,
            });
        }
        answers.push(outcomes);
    }
    head::keep(&transaction, cursor.head)?;
    transaction.commit()?;
    Ok(answers)
}

fn append_alone(
    transaction: &mut sql::Transaction<'_>,
    cursor: &mut Cursor,
    write: &Prepared,
) -> sql::Result<Outcome> {
    let before = cursor.head;
    let savepoint = transaction.savepoint()?;
    // Also what was not sent yet must be so before it is kept.
    let work = AssertUnwindSafe(|| {
        let outcome = append(&savepoint, cursor, write)?;
        savepoint.flush().map(|()| outcome)
    });
    match catch_unwind(work).unwrap_or(Err(sql::Error::Panicked)) {
        Ok(outcome) => savepoint.commit().map(|()| outcome),
        Err(error) if error.is_trouble() => Err(error),
        Err(error) => {
            tracing::error!(%error, "a write could not be stored");
            savepoint.finish()?; // rolls back, since it was not committed
            cursor.head = before;
            cursor.forget();
            set_aside(transaction, cursor, write, &error)
        }
    }
}

/// Puts a write that cannot be stored on the list of dead letters.
fn set_aside(
    transaction: &sql::Transaction<'_>,
    cursor: &mut Cursor,
    write: &Prepared,
    error: &sql::Error,
) -> sql::Result<Outcome> {
    let Some(event) = write.first() else { return Ok(Outcome::Failed) };
    let project = cursor.projects.key_of(transaction, &event.scope)?;
    let reason = error.to_string();
    match dead_letters::put(transaction, project, event, &reason, &write.as_letter()) {
        Ok(()) => Ok(Outcome::SetAside),
        Err(error) if error.is_trouble() => Err(error),
        Err(error) => {
            tracing::error!(%error, "a write could not be set aside either");
            Ok(Outcome::Failed)
        }
    }
}
