//! A clock that only moves when a test moves it.

use std::sync::atomic::{AtomicI64, Ordering};

use model::{Clock, Timestamp};

#[derive(Debug)]
pub struct TestClock(AtomicI64);

impl TestClock {
    pub fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.as_micros()))
    }

    pub fn advance_secs(&self, secs: i64) {
        self.0.fetch_add(secs * 1_000_000, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
