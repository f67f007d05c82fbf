//! Background tasks of an engine. Closing the engine waits for them.

use parking_lot::Mutex;

use tokio::sync::watch;
use tokio::task::JoinHandle;

#[derive(Debug)]
pub(crate) struct Tasks {
    stop: watch::Sender<bool>,
    running: Mutex<Vec<JoinHandle<()>>>,
}

/// Becomes `true` when tasks must stop.
pub(crate) type StopSignal = watch::Receiver<bool>;

impl Tasks {
    pub(crate) fn new() -> Self {
        Self { stop: watch::channel(false).0, running: Mutex::new(Vec::new()) }
    }

    /// Spawns a task. It must return soon after its stop signal becomes `true`.
    #[expect(
        clippy::disallowed_methods,
        reason = "this tracker is the only caller of tokio::spawn"
    )]
    pub(crate) fn spawn_task<T: Future<Output = ()> + Send + 'static>(
        &self,
        task: impl FnOnce(StopSignal) -> T,
    ) {
        let handle = tokio::spawn(task(self.stop.subscribe()));
        let mut running = self.running.lock();
        // Finished tasks need no join.
        running.retain(|task| !task.is_finished());
        running.push(handle);
    }

    pub(crate) fn stop_signal(&self) -> StopSignal {
        self.stop.subscribe()
    }

    pub(crate) fn signal_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Signals all tasks to stop and waits for them.
    pub(crate) async fn stop_all(&self) {
        self.signal_stop();
        let running = std::mem::take(&mut *self.running.lock());
        for task in running {
            if task.await.is_err() {
                tracing::error!("a background task panicked");
            }
        }
    }
}
