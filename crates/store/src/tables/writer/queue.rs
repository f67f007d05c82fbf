//! What waits for the writer.

use event::Position;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Job, Submission};

/// Jobs in the order in which they came.
pub(super) struct Queue {
    jobs: UnboundedReceiver<Job>,
    // Taken out, and not done yet.
    next: Option<Job>,
    // What others have written meanwhile.
    heard: Option<Position>,
}

impl Queue {
    pub(super) fn of(jobs: UnboundedReceiver<Job>) -> Self {
        Self { jobs, next: None, heard: None }
    }

    /// Waits for the next one; `None` when nobody is left who could hand in something.
    pub(super) fn wait(&mut self) -> Option<Job> {
        self.next.take().or_else(|| self.jobs.blocking_recv())
    }

    /// Takes whatever else waits into a group, up to the group's size or something else to do.
    pub(super) fn join(&mut self, group: &mut Vec<Submission>, most: usize) {
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
                Job::Look(head) => self.heard = self.heard.max(Some(head)),
                chore @ Job::Chore(_) => self.next = Some(chore),
            }
        }
    }

    /// How far others were seen to have written.
    pub(super) fn heard(&mut self) -> Option<Position> {
        self.heard.take()
    }
}
