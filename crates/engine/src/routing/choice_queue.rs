//! The queue of choices between a request and the log.

use std::sync::atomic::{AtomicU64, Ordering};

use model::Write;
use parking_lot::Mutex;

/// Beyond this size, choices are dropped and counted.
const MAX_QUEUED_CHOICES: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct ChoiceQueue {
    waiting: Mutex<Vec<Write>>,
    dropped: AtomicU64,
    // A caller of `store_choices` also waits for choices that another caller is storing.
    pub(crate) store_lock: tokio::sync::Mutex<()>,
}

impl ChoiceQueue {
    pub(crate) fn push(&self, choice: Write) {
        let mut waiting = self.waiting.lock();
        if waiting.len() < MAX_QUEUED_CHOICES {
            waiting.push(choice);
        } else {
            self.count_dropped(1);
        }
    }

    pub(crate) fn take_all(&self) -> Vec<Write> {
        std::mem::take(&mut *self.waiting.lock())
    }

    pub(crate) fn count_dropped(&self, choices: u64) {
        self.dropped.fetch_add(choices, Ordering::Relaxed);
    }

    pub(crate) fn dropped_count(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}
