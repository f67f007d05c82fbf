//! Choices on their way into the log.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use model::Write;

/// Choices that may wait; beyond that they are counted and left out.
const MOST_WAITING: usize = 10_000;

/// Those that wait.
#[derive(Debug, Default)]
pub(crate) struct ChoiceQueue {
    waiting: Mutex<Vec<Write>>,
    dropped: AtomicU64,
    // Whoever asks that they be stored also waits for those that are being stored.
    pub(crate) storing: tokio::sync::Mutex<()>,
}

impl ChoiceQueue {
    /// Another one.
    pub(crate) fn push(&self, choice: Write) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST_WAITING {
            waiting.push(choice);
        } else {
            self.count_dropped(1);
        }
    }

    /// All that wait.
    pub(crate) fn take(&self) -> Vec<Write> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Some are not in the log.
    pub(crate) fn count_dropped(&self, choices: u64) {
        self.dropped.fetch_add(choices, Ordering::Relaxed);
    }

    /// How many that were.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}
