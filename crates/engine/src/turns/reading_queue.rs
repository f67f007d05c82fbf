//! Messages that a background task judges: in memory, bounded, oldest first.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use model::{Scope, TurnId};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Messages that wait; the oldest are dropped.
const MAX_QUEUED: usize = 10_000;

/// A stored message that is to be judged again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnreadMessage {
    pub(crate) scope: Scope,
    pub(crate) message: TurnId,
}

#[derive(Debug, Default)]
pub(crate) struct ReadingQueue {
    messages: Mutex<VecDeque<UnreadMessage>>,
    added: Notify,
    /// Set while a background task empties the queue.
    is_serving: AtomicBool,
    dropped: AtomicU64,
}

impl ReadingQueue {
    /// Lets messages be queued.
    pub(crate) fn set_serving(&self) {
        self.is_serving.store(true, Ordering::Release);
    }

    /// Queues a message, if a background task runs.
    pub(crate) fn add_message(&self, message: UnreadMessage) {
        if !self.is_serving.load(Ordering::Acquire) {
            return;
        }
        let mut messages = self.messages.lock();
        if messages.len() >= MAX_QUEUED {
            messages.pop_front();
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        messages.push_back(message);
        self.added.notify_one();
    }

    /// The next message; waits for one.
    pub(crate) async fn next_message(&self) -> UnreadMessage {
        loop {
            let next = self.messages.lock().pop_front();
            match next {
                Some(message) => return message,
                None => self.added.notified().await,
            }
        }
    }

    /// Queues a message again that could not be judged.
    pub(crate) fn return_message(&self, message: UnreadMessage) {
        self.messages.lock().push_front(message);
    }

    pub(crate) fn count_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn queued(&self) -> u64 {
        self.messages.lock().len() as u64
    }

    /// Messages that were dropped from the full queue, or could not be judged.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}
