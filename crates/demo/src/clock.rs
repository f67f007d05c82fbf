//! The clock that the engine uses while the demo runs.

use std::sync::atomic::{AtomicI64, Ordering};

use model::{Clock, Timestamp};

/// Shows the simulated time of the demo.
#[derive(Debug)]
pub struct DemoClock(AtomicI64);

impl DemoClock {
    pub fn new(moment: Timestamp) -> Self {
        Self(AtomicI64::new(moment.as_micros()))
    }

    /// Advances the clock; it never goes backwards.
    pub(crate) fn advance_to(&self, moment: Timestamp) {
        self.0.fetch_max(moment.as_micros(), Ordering::SeqCst);
    }
}

impl Clock for DemoClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
