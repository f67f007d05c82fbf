//! That something of what was erased or dropped may still be in the store's files.

use std::sync::Arc;

use store::Store;
use tokio::sync::Notify;

use crate::retriable::put_off;

/// Tells whoever keeps the files clean that there is something to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScrubSignal(Arc<Notify>);

impl ScrubSignal {
    /// Clears the files if nobody is in the way; if somebody is, it is done later.
    pub(crate) async fn scrub_or_signal(&self, store: &Store) {
        match store.scrub().await {
            Ok(true) => {}
            Ok(false) => self.notify(),
            Err(error) => {
                put_off(error, "what was dropped is not overwritten yet");
                self.notify();
            }
        }
    }

    /// There is.
    pub(crate) fn notify(&self) {
        self.0.notify_one();
    }

    /// Until there is.
    pub(crate) async fn wait(&self) {
        self.0.notified().await;
    }
}
