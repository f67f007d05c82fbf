//! A thread of the lowest priority for work that no request waits for.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Runs one job at a time. The thread starts with the first job and ends with its owner.
#[derive(Default)]
pub(crate) struct LowPriorityThread {
    jobs: OnceLock<Sender<Job>>,
}

impl LowPriorityThread {
    /// The result of `work`; `None` when it panicked or the thread could not be started.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, result) = oneshot::channel();
        let job = Box::new(move || {
            // The receiver is gone when the caller has left.
            let _ = sender.send(work());
        });
        self.jobs.get_or_init(start_thread).send(job).ok()?;
        result.await.ok()
    }
}

fn start_thread() -> Sender<Job> {
    let (sender, jobs) = channel();
    let started =
        std::thread::Builder::new().name("background reader".into()).spawn(move || run_jobs(&jobs));
    if let Err(error) = started {
        tracing::error!(%error, "cannot start the thread for background work");
    }
    sender
}

fn run_jobs(jobs: &Receiver<Job>) {
    lower_priority();
    for job in jobs {
        let finished = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        if finished.is_err() {
            tracing::error!("background work panicked");
        }
    }
}

/// Requests get the processor first. On Linux a thread has a priority of its own.
#[cfg(target_os = "linux")]
fn lower_priority() {
    const LOWEST: i32 = 19;
    if let Err(error) = rustix::process::setpriority_process(None, LOWEST) {
        tracing::warn!(%error, "cannot lower the priority of background work");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn jobs_give_results_also_after_a_panic() {
        let thread = LowPriorityThread::default();
        assert_eq!(thread.run(|| 6 * 7).await, Some(42));
        assert_eq!(thread.run(|| -> u32 { panic!("on purpose") }).await, None);
        assert_eq!(thread.run(|| 8).await, Some(8));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn only_the_thread_has_the_lowest_priority() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let thread = LowPriorityThread::default();
        let before = priority();
        assert_eq!(thread.run(priority).await, Some(19));
        assert_eq!(priority(), before);
    }
}
