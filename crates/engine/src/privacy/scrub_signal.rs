//! That something of what was erased or dropped may still be in the store's files.

use std::sync::Arc;

use store::Store;
use tokio::sync::Notify;

use crate::retriable::log_retriable;

/// Tells whoever keeps the files clean that there is something to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unclean(Arc<Notify>);

impl Unclean {
    /// Clears the files if nobody is in the way; if somebody is, it is done later.
    pub(crate) async fn clear_soon(&self, store: &Store) {
        match store.scrub().await {
            Ok(true) => {}
            Ok(false) => self.tell(),
            Err(error) => {
                log_retriable(error, "what was dropped is not overwritten yet");
                self.tell();
            }
        }
    }

    /// There is.
    pub(crate) fn tell(&self) {
        self.0.notify_one();
    }

    /// Until there is.
    pub(crate) async fn told(&self) {
        self.0.notified().await;
    }
}
