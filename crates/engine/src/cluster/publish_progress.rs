//! How far publishing has come, for those who watch.

use std::sync::{Mutex, PoisonError};

use model::{Position, Timestamp};

/// What is known of it on this node.
#[derive(Debug, Default)]
pub(crate) struct PublishProgress(Mutex<Option<ProgressState>>);

#[derive(Clone, Copy, Debug, Default)]
struct ProgressState {
    reached: Position,
    waiting_since: Option<Timestamp>,
    is_holder: bool,
    refused: u64,
}

/// How far publishing is behind the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishLag {
    /// Events that are in the log and not yet handed over.
    pub events: u64,
    /// How long the oldest of them has waited, in seconds.
    pub seconds: f64,
    /// Whether it is this node that publishes.
    pub is_holder: bool,
    /// Messages of this node that will never be taken.
    pub refused: u64,
}

impl PublishProgress {
    /// Everything up to here is handed over; the next one, if there is one, waits since then.
    pub(crate) fn record_progress(
        &self,
        reached: Position,
        waiting_since: Option<Timestamp>,
        mine: bool,
    ) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = state.map_or(0, |state| state.refused);
        *state = Some(ProgressState { reached, waiting_since, is_holder: mine, refused });
    }

    /// A message will never be taken.
    pub(crate) fn count_refused(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.get_or_insert_default().refused += 1;
    }

    /// How far behind it is; `None` where nothing is published.
    pub(crate) fn compute_lag(&self, head: Position, now: Timestamp) -> Option<PublishLag> {
        let state = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        let events = head.0.saturating_sub(state.reached.0);
        let waited = state.waiting_since.map_or(0, |since| now.as_micros() - since.as_micros());
        // What came in this moment has not been looked at yet.
        let seconds = if events == 0 { 0.0 } else { waited.max(0) as f64 / 1e6 };
        Some(PublishLag { events, seconds, is_holder: state.is_holder, refused: state.refused })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_counts_unpublished_events_and_their_age() {
        let published = PublishProgress::default();
        let at = |secs: i64| Timestamp::from_micros(secs * 1_000_000);
        assert_eq!(published.compute_lag(Position(3), at(9)), None);
        published.record_progress(Position(1), Some(at(4)), true);
        published.count_refused();
        let lag = published.compute_lag(Position(3), at(9)).unwrap();
        assert_eq!(lag, PublishLag { events: 2, seconds: 5.0, is_holder: true, refused: 1 });
        published.record_progress(Position(3), None, false);
        let lag = published.compute_lag(Position(3), at(9)).unwrap();
        assert_eq!(lag, PublishLag { events: 0, seconds: 0.0, is_holder: false, refused: 1 });
    }
}
