//! The queue of the writer thread.

use model::{Outcome, Position};
use sql::Connection;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::error::StoreError;
use crate::log::packed_write::PackedWrite;
use crate::metrics::Stopwatch;

pub(crate) type Answer = Result<Vec<Outcome>, StoreError>;

pub(crate) struct Submission {
    pub(crate) writes: Vec<PackedWrite>,
    pub(crate) reply: oneshot::Sender<Answer>,
    // Queue capacity, released before the reply.
    pub(crate) room: OwnedSemaphorePermit,
    pub(crate) queued: Stopwatch,
}

/// A job on the writer's connection, run between two groups.
type ConnectionTask = Box<dyn FnOnce(&mut Connection) + Send>;

pub(crate) enum Job {
    Commit(Submission),
    ConnectionTask(ConnectionTask),
    /// Another node has written up to this position.
    #[cfg_attr(not(feature = "scaled"), expect(dead_code, reason = "SQLite has one writer"))]
    ForeignHead(Position),
}

/// Jobs in arrival order.
pub(crate) struct Queue {
    jobs: UnboundedReceiver<Job>,
    // Taken from the channel and not run yet.
    next: Option<Job>,
    // The newest head of other nodes.
    newest_foreign_head: Option<Position>,
}

impl Queue {
    pub(crate) fn new(jobs: UnboundedReceiver<Job>) -> Self {
        Self { jobs, next: None, newest_foreign_head: None }
    }

    /// Waits for the next job. `None` when all senders are gone.
    pub(crate) fn wait(&mut self) -> Option<Job> {
        self.next.take().or_else(|| self.jobs.blocking_recv())
    }

    /// Adds queued commits to a group, up to its size or the next other job.
    pub(crate) fn join(&mut self, group: &mut Vec<Submission>, most: usize) {
        let mut writes: usize = group.iter().map(|one| one.writes.len()).sum();
        while self.next.is_none()
            && writes < most
            && let Ok(job) = self.jobs.try_recv()
        {
            match job {
                Job::Commit(one) => {
                    writes += one.writes.len();
                    group.push(one);
                }
                Job::ForeignHead(head) => {
                    self.newest_foreign_head = self.newest_foreign_head.max(Some(head))
                }
                chore @ Job::ConnectionTask(_) => self.next = Some(chore),
            }
        }
    }

    /// The newest head written by another node since the last call.
    pub(crate) fn newest_foreign_head(&mut self) -> Option<Position> {
        self.newest_foreign_head.take()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::Scope;
    use testkit::write;
    use tokio::sync::{Semaphore, mpsc};

    use super::*;

    fn commit() -> Job {
        let writes = vec![PackedWrite::new(write(&Scope::default(), "a", 1))];
        let room = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        Job::Commit(Submission {
            writes,
            reply: oneshot::channel().0,
            room,
            queued: Stopwatch::start(),
        })
    }

    fn group(queue: &mut Queue, most: usize) -> usize {
        let Some(Job::Commit(first)) = queue.wait() else { panic!("a commit is next") };
        let mut group = vec![first];
        queue.join(&mut group, most);
        group.len()
    }

    #[test]
    fn group_ends_at_the_next_other_job() {
        let (send, jobs) = mpsc::unbounded_channel();
        let mut queue = Queue::new(jobs);
        let chore = Job::ConnectionTask(Box::new(|_| {}));
        for job in [commit(), commit(), chore, commit(), commit(), commit()] {
            assert!(send.send(job).is_ok());
        }
        drop(send);
        assert_eq!(group(&mut queue, 9), 2);
        assert!(matches!(queue.wait(), Some(Job::ConnectionTask(_))));
        assert_eq!(group(&mut queue, 2), 2, "no more than may be together");
        assert_eq!(group(&mut queue, 2), 1);
        assert!(queue.wait().is_none());
    }
}
