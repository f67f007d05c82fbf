//! Signals that the store's files may still hold erased or dropped data.

use std::sync::Arc;

use store::Store;
use tokio::sync::Notify;

use crate::retriable::log_retriable;

/// Wakes the background scrubbing task.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScrubSignal(Arc<Notify>);

impl ScrubSignal {
    /// Scrubs at once if no reader is in the way, otherwise signals the background task.
    pub(crate) async fn scrub_or_signal(&self, store: &Store) {
        match store.scrub().await {
            Ok(true) => {}
            Ok(false) => self.notify(),
            Err(error) => {
                log_retriable(error, "scrubbing dropped events failed; retrying in the background");
                self.notify();
            }
        }
    }

    pub(crate) fn notify(&self) {
        self.0.notify_one();
    }

    /// Waits for the next signal.
    pub(crate) async fn wait(&self) {
        self.0.notified().await;
    }
}
