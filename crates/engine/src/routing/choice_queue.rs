//! Choices on their way into the log.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use model::Write;

/// Choices that may wait; beyond that they are counted and left out.
const MAX_QUEUED_CHOICES: usize = 10_000;

/// Those that wait.
#[derive(Debug, Default)]
pub(crate) struct ChoiceQueue {
    waiting: Mutex<Vec<Write>>,
    dropped: AtomicU64,
    // Whoever asks that they be stored also waits for those that are being stored.
    pub(crate) store_lock: tokio::sync::Mutex<()>,
}

impl ChoiceQueue {
    /// Another one.
    pub(crate) fn push(&self, choice: Write) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MAX_QUEUED_CHOICES {
            waiting.push(choice);
        } else {
            self.count_dropped(1);
        }
    }

    /// All that wait.
    pub(crate) fn take_all(&self) -> Vec<Write> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Some are not in the log.
    pub(crate) fn count_dropped(&self, choices: u64) {
        self.dropped.fetch_add(choices, Ordering::Relaxed);
    }

    /// How many that were.
    pub(crate) fn dropped_count(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}
