//! What the thread does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::{Outcome, Position};
use sql::Connection;
use tokio::sync::watch;

use crate::connection_source::Source;
use crate::error::StoreError;
use crate::log::group_commit::{Attempt, Care, attempt};
use crate::log::packed_write::Prepared;
use crate::log::queue::Queue;
use crate::log::verify_commit::came_to_pass;
use crate::log::writer::{Answer, Job, Meters, Submission};
use crate::log::writer_state::Cursor;
use crate::metrics::Stopwatch;
use crate::similarity::{Shelves, Touched};

/// The writing connection and what goes with it.
pub(crate) struct Work {
    pub(crate) source: Source,
    pub(crate) connection: Connection,
    pub(crate) touched: Touched,
    pub(crate) similar: Arc<Shelves>,
    pub(crate) cursor: Cursor,
    pub(crate) announce: watch::Sender<Position>,
    pub(crate) meters: Arc<Meters>,
    pub(crate) group_writes: usize,
}

impl Work {
    /// Until nobody is left who could hand in something.
    pub(crate) fn run(&mut self, mut queue: Queue) {
        while let Some(job) = queue.wait() {
            self.mend();
            match job {
                Job::Commit(first) => {
                    let mut group = vec![first];
                    queue.join(&mut group, self.group_writes);
                    self.commit_and_answer(group, &mut queue);
                    if let Some(head) = queue.heard() {
                        self.catch_up(head);
                    }
                }
                Job::Chore(chore) => {
                    chore(&mut self.connection);
                    // It may have removed what is known by heart.
                    self.cursor.forget();
                    self.keep_in_step();
                }
                Job::Look(head) => self.catch_up(head),
            }
        }
    }

    fn catch_up(&mut self, head: Position) {
        self.keep_in_step();
        // Perhaps it was lost long ago and is found out now; what others wrote may be their last for a while.
        if self.connection.is_lost() {
            self.mend();
            self.keep_in_step();
        }
        self.tell(head);
    }

    fn commit_and_answer(&mut self, mut group: Vec<Submission>, queue: &mut Queue) {
        let watch = Stopwatch::start();
        let answers = self.commit(&mut group, queue);
        if group.iter().flat_map(|submission| &submission.writes).any(Prepared::is_of_turns) {
            self.keep_in_step();
        }
        self.meters.commit_seconds.record(watch.elapsed().as_secs_f64());
        let writes: usize = group.iter().map(|submission| submission.writes.len()).sum();
        self.meters.commit_writes.record(writes as f64);
        self.meters.queued_writes.fetch_sub(writes as u64, Ordering::Relaxed);
        let is_in_trouble = answers.iter().any(Result::is_err);
        self.meters.in_trouble.store(is_in_trouble, Ordering::Relaxed);
        if !is_in_trouble {
            self.meters.untried.store(false, Ordering::Relaxed);
            self.meters.outage.is_over();
        }
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
                // Whoever needs it is told.
                Err(error) => tracing::debug!(%error, "no other connection"),
            }
        }
    }

    /// Puts what was touched into the index in memory, before anybody is answered.
    fn keep_in_step(&mut self) {
        let (similar, connection) = (&self.similar, &self.connection);
        let kept = self.touched.look(connection, |turns| similar.refresh(connection, turns));
        match kept {
            Ok(()) => {}
            Err(error) if connection.is_lost() => {
                tracing::debug!(%error, "the index of similar turns is behind; tried again");
            }
            Err(error) => {
                tracing::error!(%error, "the index of similar turns is behind; tried again");
            }
        }
    }

    /// One transaction for the group. If a single write breaks it, the group is done again with a
    /// savepoint around each write, so that only that one fails.
    fn commit(&mut self, group: &mut Vec<Submission>, queue: &mut Queue) -> Vec<Answer> {
        let most = self.group_writes;
        let mut error = match self.attempt(group, |group| queue.join(group, most), Care::Quick) {
            Ok(answers) => return answers,
            Err(error) => error,
        };
        if !error.is_trouble() {
            tracing::warn!(%error, "a write broke its group; trying each write by itself");
            error = match self.attempt(group, |_| {}, Care::EachBySavepoint) {
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
        care: Care,
    ) -> sql::Result<Vec<Answer>> {
        let before = self.cursor.head;
        // A panic is a bug in one write; the thread and everybody else's writes must outlive it.
        // The transaction is rolled back on the way out.
        let work =
            AssertUnwindSafe(|| attempt(&mut self.connection, &mut self.cursor, group, join, care));
        match catch_unwind(work).unwrap_or(Err(sql::Error::Panicked)) {
            Ok(Attempt::Done(answers)) => Ok(answers.into_iter().map(Ok).collect()),
            Ok(Attempt::InDoubt(answers, error)) => self.clear_up(group, answers, error, before),
            Err(error) => {
                self.cursor.head = before;
                self.cursor.forget();
                Err(error)
            }
        }
    }

    /// The connection broke before it was heard whether the group is committed: asks by another one.
    fn clear_up(
        &mut self,
        group: &[Submission],
        answers: Vec<Vec<Outcome>>,
        error: sql::Error,
        before: Position,
    ) -> sql::Result<Vec<Answer>> {
        tracing::warn!(%error, "a commit was not confirmed; looking whether it came to pass");
        self.cursor.forget();
        self.mend();
        let came_to_pass = came_to_pass(&mut self.connection, group, &answers);
        if !matches!(came_to_pass, Ok(true)) {
            self.cursor.head = before;
        }
        match came_to_pass {
            Ok(true) => Ok(answers.into_iter().map(Ok).collect()),
            Ok(false) => Err(error),
            Err(why) => {
                self.meters.failed_commits.fetch_add(1, Ordering::Relaxed);
                self.meters.outage.goes_on(&why, group.len());
                Ok(group.iter().map(|_| Err(StoreError::InDoubt(why.to_string()))).collect())
            }
        }
    }

    fn refuse(&self, group: &[Submission], error: &sql::Error) -> Vec<Answer> {
        self.meters.failed_commits.fetch_add(1, Ordering::Relaxed);
        self.meters.outage.goes_on(error, group.len());
        group.iter().map(|_| Err(StoreError::Unavailable(error.to_string()))).collect()
    }
}
