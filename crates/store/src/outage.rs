//! Logs an outage of the database: once at its start, every ten seconds with the number of failed
//! requests, and once at its end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::StoreError;
use crate::metrics::Stopwatch;
use parking_lot::Mutex;

const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The state of the database as seen by readers or by the writer.
#[derive(Debug)]
pub(crate) struct Outage {
    // The failing operation, for the log.
    what: &'static str,
    is_on: AtomicBool,
    missed: Mutex<Option<Missed>>,
}

#[derive(Debug)]
struct Missed {
    said: Stopwatch,
    requests: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum News {
    Away,
    StillAway { refused: usize },
    Back { refused: usize },
}

impl Outage {
    /// A working database that is `read` or `written to`.
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, is_on: AtomicBool::new(false), missed: Mutex::new(None) }
    }

    pub(crate) fn note<T>(&self, came_of: &Result<T, StoreError>) {
        match came_of {
            Ok(_) => self.is_over(),
            Err(error) if error.is_away() => self.record_failure(error, 1),
            Err(_) => {}
        }
    }

    pub(crate) fn record_failure(&self, error: &dyn std::error::Error, requests: usize) {
        // The cause is more specific than the error.
        let error = error.source().unwrap_or(error);
        match self.missed_more(requests, REPORT_INTERVAL) {
            Some(News::StillAway { refused }) => {
                tracing::error!(%error, refused, "the store still cannot be {}", self.what);
            }
            Some(News::Away | News::Back { .. }) => {
                tracing::error!(%error, "the store cannot be {}", self.what);
            }
            None => {}
        }
    }

    pub(crate) fn is_over(&self) {
        if let Some(News::Back { refused }) = self.done() {
            tracing::warn!(refused, "the store can be {} again", self.what);
        }
    }

    fn missed_more(&self, requests: usize, often: Duration) -> Option<News> {
        let mut missed = self.missed.lock();
        self.is_on.store(true, Ordering::Relaxed);
        let Some(known) = &mut *missed else {
            *missed = Some(Missed { said: Stopwatch::start(), requests });
            return Some(News::Away);
        };
        known.requests += requests;
        (known.said.elapsed() >= often).then(|| {
            known.said = Stopwatch::start();
            News::StillAway { refused: known.requests }
        })
    }

    fn done(&self) -> Option<News> {
        // The common case.
        if !self.is_on.load(Ordering::Relaxed) {
            return None;
        }
        let missed = self.missed.lock().take()?;
        self.is_on.store(false, Ordering::Relaxed);
        Some(News::Back { refused: missed.requests })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outage_is_logged_at_start_periodically_and_at_its_end() {
        let outage = Outage::new("read");
        let (never, always) = (Duration::MAX, Duration::ZERO);
        assert_eq!(outage.done(), None, "nothing was missed");
        assert_eq!(outage.missed_more(1, never), Some(News::Away));
        for _ in 0..1000 {
            assert_eq!(outage.missed_more(2, never), None);
        }
        assert_eq!(outage.missed_more(1, always), Some(News::StillAway { refused: 2002 }));
        assert_eq!(outage.done(), Some(News::Back { refused: 2002 }));
        assert_eq!(outage.done(), None);
        assert_eq!(outage.missed_more(1, always), Some(News::Away), "another one");
    }

    #[test]
    fn only_what_the_moment_is_to_blame_for_counts() {
        let outage = Outage::new("read");
        outage.note::<()>(&Err(StoreError::Corrupt("a row".into())));
        assert!(outage.missed.lock().is_none());
        outage.note::<()>(&Err(StoreError::Unavailable("no way".into())));
        assert!(outage.missed.lock().is_some());
        outage.note(&Ok(()));
        assert!(outage.missed.lock().is_none());
    }
}
