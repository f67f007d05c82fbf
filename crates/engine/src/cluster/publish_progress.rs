//! Publishing progress of this node, for metrics.

use parking_lot::Mutex;

use model::{Position, Timestamp};

#[derive(Debug, Default)]
pub(crate) struct PublishProgress(Mutex<Option<ProgressState>>);

#[derive(Clone, Copy, Debug, Default)]
struct ProgressState {
    reached: Position,
    waiting_since: Option<Timestamp>,
    is_holder: bool,
    refused: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishLag {
    /// Events in the log that are not published yet.
    pub events: u64,
    /// Age of the oldest of them, in seconds.
    pub seconds: f64,
    /// True when this node holds the publishing lease.
    pub is_holder: bool,
    /// Messages of this node that the broker refused permanently.
    pub refused: u64,
}

impl PublishProgress {
    /// Records the published position and the arrival time of the next event, if any.
    pub(crate) fn record_progress(
        &self,
        reached: Position,
        waiting_since: Option<Timestamp>,
        mine: bool,
    ) {
        let mut state = self.0.lock();
        let refused = state.map_or(0, |state| state.refused);
        *state = Some(ProgressState { reached, waiting_since, is_holder: mine, refused });
    }

    pub(crate) fn count_refused(&self) {
        let mut state = self.0.lock();
        state.get_or_insert_default().refused += 1;
    }

    /// `None` when publishing is off.
    pub(crate) fn compute_lag(&self, head: Position, now: Timestamp) -> Option<PublishLag> {
        let state = (*self.0.lock())?;
        let events = head.0.saturating_sub(state.reached.0);
        let waited = state.waiting_since.map_or(0, |since| now.as_micros() - since.as_micros());
        // An event without a recorded arrival time has just come in: its age is 0.
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
