//! The clock of the story: it shows whatever moment is being told.

use std::sync::atomic::{AtomicI64, Ordering};

use model::{Clock, Timestamp};

/// Shows the moment that is being told.
#[derive(Debug)]
pub struct StoryClock(AtomicI64);

impl StoryClock {
    /// A clock that shows this moment until the story goes on.
    pub fn at(moment: Timestamp) -> Self {
        Self(AtomicI64::new(moment.as_micros()))
    }

    /// The story goes on at this moment; it never goes back.
    pub(crate) fn reach(&self, moment: Timestamp) {
        self.0.fetch_max(moment.as_micros(), Ordering::SeqCst);
    }
}

impl Clock for StoryClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
