//! The loop of the writer thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use model::{Outcome, Position};
use sql::Connection;
use tokio::sync::watch;

use crate::connection_source::Source;
use crate::error::StoreError;
use crate::log::group_commit::{GroupOutcome, Isolation, attempt};
use crate::log::own_positions::OwnPositions;
use crate::log::packed_write::PackedWrite;
use crate::log::queue::{Answer, Job, Queue, Submission};
use crate::log::verify_commit::verify_commit;
use crate::log::writer_state::WriterState;
use crate::metrics::{BYTES, Histogram, SECONDS, SIZES, STATEMENTS, Stopwatch};
use crate::outage::Outage;
#[cfg(feature = "scaled")]
use crate::postgres::settings;
use crate::similarity::{SimilarityIndexes, Touched};

pub(crate) struct WriterThread {
    pub(crate) source: Source,
    pub(crate) connection: Connection,
    pub(crate) touched: Touched,
    pub(crate) similar: Arc<SimilarityIndexes>,
    pub(crate) cursor: WriterState,
    pub(crate) announce: watch::Sender<Position>,
    pub(crate) own: Arc<OwnPositions>,
    pub(crate) meters: Arc<Meters>,
    pub(crate) group_writes: usize,
}

pub(crate) struct Meters {
    pub(crate) commit_seconds: Histogram,
    pub(crate) commit_writes: Histogram,
    pub(crate) commit_bytes: Histogram,
    pub(crate) commit_statements: Histogram,
    pub(crate) wait_seconds: Histogram,
    pub(crate) failed_commits: AtomicU64,
    pub(crate) queued_writes: AtomicU64,
    pub(crate) in_trouble: AtomicBool,
    // True until the first commit after start. The disk may have been full before.
    pub(crate) untried: AtomicBool,
    pub(crate) outage: Outage,
}

impl Meters {
    pub(crate) fn new() -> Self {
        Self {
            commit_seconds: Histogram::new(SECONDS),
            commit_writes: Histogram::new(SIZES),
            commit_bytes: Histogram::new(BYTES),
            commit_statements: Histogram::new(STATEMENTS),
            wait_seconds: Histogram::new(SECONDS),
            failed_commits: AtomicU64::new(0),
            queued_writes: AtomicU64::new(0),
            in_trouble: AtomicBool::new(false),
            untried: AtomicBool::new(true),
            outage: Outage::new("written to"),
        }
    }
}

/// Planner settings of the writer's Postgres session.
#[derive(Clone, Copy)]
enum Plans {
    /// Groups look up rows by key.
    ByIndex,
    /// Maintenance reads whole tables.
    ByCost,
}

#[cfg(feature = "scaled")]
impl Plans {
    fn statement(self) -> &'static str {
        match self {
            Self::ByIndex => settings::PLAN_BY_INDEX,
            Self::ByCost => settings::PLAN_BY_COST,
        }
    }
}

impl WriterThread {
    /// Runs until all senders are gone.
    pub(crate) fn run(&mut self, mut queue: Queue) {
        while let Some(job) = queue.wait() {
            self.reconnect();
            match job {
                Job::Commit(first) => {
                    let mut group = vec![first];
                    queue.join(&mut group, self.group_writes);
                    self.commit_and_answer(group, &mut queue);
                    if let Some(head) = queue.newest_foreign_head() {
                        self.catch_up(head);
                    }
                }
                Job::ConnectionTask(chore) => {
                    self.plan(Plans::ByCost);
                    chore(&mut self.connection);
                    self.plan(Plans::ByIndex);
                    // The job may have deleted rows that the state caches.
                    self.cursor.forget();
                    self.sync_similarity_index();
                }
                Job::ForeignHead(head) => self.catch_up(head),
            }
        }
    }

    #[cfg_attr(
        not(feature = "scaled"),
        expect(unused_variables, clippy::unused_self, reason = "only Postgres has the setting")
    )]
    fn plan(&self, plans: Plans) {
        #[cfg(feature = "scaled")]
        if let Some(session) = self.connection.postgres()
            && let Err(error) = session.send_raw_batch(plans.statement())
        {
            // The next statement of the session fails too, and is retried by its caller.
            tracing::debug!(%error, "the writer's planner settings could not be changed");
        }
    }

    fn catch_up(&mut self, head: Position) {
        self.sync_similarity_index();
        // The loss may be noticed only now, and other nodes may not write again for a while.
        if self.connection.is_lost() {
            self.reconnect();
            self.sync_similarity_index();
        }
        self.announce_head(head);
    }

    fn commit_and_answer(&mut self, mut group: Vec<Submission>, queue: &mut Queue) {
        let (watch, statements) = (Stopwatch::start(), sql::executed_statements());
        group
            .iter()
            .for_each(|one| self.meters.wait_seconds.record(one.queued.elapsed().as_secs_f64()));
        let answers = self.commit(&mut group, queue);
        if group.iter().flat_map(|submission| &submission.writes).any(PackedWrite::touches_turns) {
            self.sync_similarity_index();
        }
        self.meters.commit_seconds.record(watch.elapsed().as_secs_f64());
        let statements = sql::executed_statements() - statements;
        self.meters.commit_statements.record(statements as f64);
        let writes: usize = group.iter().map(|submission| submission.writes.len()).sum();
        self.meters.commit_writes.record(writes as f64);
        let bytes: usize =
            group.iter().flat_map(|one| &one.writes).map(PackedWrite::payload_bytes).sum();
        self.meters.commit_bytes.record(bytes as f64);
        self.meters.queued_writes.fetch_sub(writes as u64, Ordering::Relaxed);
        let is_in_trouble = answers.iter().any(Result::is_err);
        self.meters.in_trouble.store(is_in_trouble, Ordering::Relaxed);
        if !is_in_trouble {
            self.meters.untried.store(false, Ordering::Relaxed);
            self.meters.outage.is_over();
        }
        // Before the announcement, so that a follower of the log does not read own entries.
        if let Some(first) = answers.iter().flatten().find_map(|outcomes| first_position(outcomes))
        {
            self.own.record(first, self.cursor.head);
        }
        self.announce_head(self.cursor.head);
        for (submission, answer) in group.into_iter().zip(answers) {
            let Submission { reply, room, writes, .. } = submission;
            drop((room, writes));
            // The caller may be gone; its writes are stored.
            drop(reply.send(answer));
        }
    }

    fn announce_head(&self, head: Position) {
        self.announce.send_if_modified(|known| {
            let is_new = *known < head;
            *known = head.max(*known);
            is_new
        });
    }

    fn reconnect(&mut self) {
        if self.connection.is_lost() {
            match self.source.reopen_writer() {
                Ok(Some(connection)) => self.connection = connection,
                Ok(None) => {}
                // The jobs that need the connection return the error.
                Err(error) => tracing::debug!(%error, "reconnecting the writer failed"),
            }
        }
    }

    /// Updates the similarity index for touched turns, before any caller is answered.
    fn sync_similarity_index(&mut self) {
        let (similar, connection) = (&self.similar, &self.connection);
        let kept = self.touched.look(connection, |turns| similar.refresh(connection, turns));
        match kept {
            Ok(()) => {}
            Err(error) if connection.is_lost() => {
                tracing::debug!(%error, "the similarity index could not be updated; retrying");
            }
            Err(error) => {
                tracing::error!(%error, "the similarity index could not be updated; retrying");
            }
        }
    }

    /// Commits the group in one transaction. When a single write breaks it, retries with a
    /// savepoint around each write, so that only that write fails.
    fn commit(&mut self, group: &mut Vec<Submission>, queue: &mut Queue) -> Vec<Answer> {
        let most = self.group_writes;
        let mut error = match self.attempt(group, |group| queue.join(group, most), Isolation::Group)
        {
            Ok(answers) => return answers,
            Err(error) => error,
        };
        if !error.is_unavailable() {
            tracing::warn!(%error, "a write failed its group; retrying each write in a savepoint");
            error = match self.attempt(group, |_| {}, Isolation::PerWrite) {
                Ok(answers) => return answers,
                Err(error) => error,
            };
        }
        self.refuse(group, &error)
    }

    fn attempt(
        &mut self,
        group: &mut Vec<Submission>,
        join: impl FnOnce(&mut Vec<Submission>),
        isolation: Isolation,
    ) -> sql::Result<Vec<Answer>> {
        let before = self.cursor.head;
        // A panic is a bug in one write; the thread and the other writes survive it. Unwinding
        // rolls the transaction back.
        let work = AssertUnwindSafe(|| {
            attempt(&mut self.connection, &mut self.cursor, group, join, isolation)
        });
        match catch_unwind(work).unwrap_or(Err(sql::Error::Panicked)) {
            Ok(GroupOutcome::Done(answers)) => Ok(answers.into_iter().map(Ok).collect()),
            Ok(GroupOutcome::InDoubt(answers, error)) => {
                self.resolve_unconfirmed_commit(group, answers, error, before)
            }
            Err(error) => {
                self.cursor.head = before;
                self.cursor.forget();
                Err(error)
            }
        }
    }

    /// Finds out over a new connection whether an unconfirmed group was committed.
    fn resolve_unconfirmed_commit(
        &mut self,
        group: &[Submission],
        answers: Vec<Vec<Outcome>>,
        error: sql::Error,
        before: Position,
    ) -> sql::Result<Vec<Answer>> {
        tracing::warn!(%error, "a commit was not confirmed; verifying it over a new connection");
        self.cursor.forget();
        self.reconnect();
        let verify_commit = verify_commit(&mut self.connection, group, &answers);
        if !matches!(verify_commit, Ok(true)) {
            self.cursor.head = before;
        }
        match verify_commit {
            Ok(true) => Ok(answers.into_iter().map(Ok).collect()),
            Ok(false) => Err(error),
            Err(why) => {
                self.meters.failed_commits.fetch_add(1, Ordering::Relaxed);
                self.meters.outage.record_failure(&why, group.len());
                Ok(group.iter().map(|_| Err(StoreError::InDoubt(why.to_string()))).collect())
            }
        }
    }

    fn refuse(&self, group: &[Submission], error: &sql::Error) -> Vec<Answer> {
        self.meters.failed_commits.fetch_add(1, Ordering::Relaxed);
        self.meters.outage.record_failure(error, group.len());
        group.iter().map(|_| Err(StoreError::Unavailable(error.to_string()))).collect()
    }
}

/// The first position of a group, from the outcomes of one of its submissions.
fn first_position(outcomes: &[Outcome]) -> Option<Position> {
    outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Stored(position) | Outcome::StoredElsewhere(position) => Some(*position),
        Outcome::Replayed { .. }
        | Outcome::Unchanged
        | Outcome::Conflict(_)
        | Outcome::Missing(_)
        | Outcome::SetAside
        | Outcome::Failed => None,
    })
}
