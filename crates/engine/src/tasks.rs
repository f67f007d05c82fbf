//! Work that goes on beside requests. Stopping waits for it.

use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The tasks of one engine.
#[derive(Debug)]
pub(crate) struct Tasks {
    stop: watch::Sender<bool>,
    running: Mutex<Vec<JoinHandle<()>>>,
}

/// Tells a task when to stop.
pub(crate) type StopSignal = watch::Receiver<bool>;

impl Tasks {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self { stop: watch::channel(false).0, running: Mutex::new(Vec::new()) }
    }

    /// Starts one. It must return soon after `Stop` says so.
    #[expect(clippy::disallowed_methods, reason = "this is the tracker that everyone else uses")]
    pub(crate) fn spawn_task<T: Future<Output = ()> + Send + 'static>(
        &self,
        task: impl FnOnce(StopSignal) -> T,
    ) {
        let handle = tokio::spawn(task(self.stop.subscribe()));
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that came to their end are not waited for.
        running.retain(|task| !task.is_finished());
        running.push(handle);
    }

    /// Tells whoever reads along when to stop.
    pub(crate) fn stop_signal(&self) -> StopSignal {
        self.stop.subscribe()
    }

    /// Tells all of them to stop.
    pub(crate) fn signal_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Tells all of them to stop, and waits until they have.
    pub(crate) async fn stop_all(&self) {
        self.signal_stop();
        let running =
            std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        for task in running {
            if task.await.is_err() {
                tracing::error!("a background task panicked");
            }
        }
    }
}
