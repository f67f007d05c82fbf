//! The read that a connection runs, so that it can be cancelled.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// Set while a connection runs a read that may be cancelled.
#[derive(Clone, Debug, Default)]
pub struct CurrentRead(Arc<Mutex<Option<CancellationToken>>>);

impl CurrentRead {
    /// Statements fail once the token is cancelled, also while they run.
    pub fn begin(&self, token: CancellationToken) {
        *self.0.lock() = Some(token);
    }

    pub fn end(&self) {
        *self.0.lock() = None;
    }

    #[cfg(feature = "postgres")]
    pub(super) fn token(&self) -> Option<CancellationToken> {
        self.0.lock().clone()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.0.lock().as_ref().is_some_and(CancellationToken::is_cancelled)
    }
}
