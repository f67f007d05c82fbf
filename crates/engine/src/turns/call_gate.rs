//! Limits the calls of a remote model: a rate, and a circuit breaker that pauses after failures.

use model::Timestamp;
use parking_lot::Mutex;

/// Failures in a row after which calls pause.
const MAX_FAILURES: u32 = 3;
const FIRST_PAUSE_MICROS: i64 = 30 * 1_000_000;
const MAX_PAUSE_MICROS: i64 = 10 * 60 * 1_000_000;
const MINUTE_MICROS: f64 = 60e6;

#[derive(Debug)]
pub(crate) struct CallGate {
    per_minute: f64,
    state: Mutex<GateState>,
}

#[derive(Debug)]
struct GateState {
    /// Calls that may start now; a minute's worth at most.
    tokens: f64,
    refilled_at: Timestamp,
    failures: u32,
    /// Closed until then. After it one call may probe.
    closed_until: Option<Timestamp>,
}

impl CallGate {
    pub(crate) fn new(per_minute: u32, now: Timestamp) -> Self {
        let per_minute = f64::from(per_minute);
        let state =
            GateState { tokens: per_minute, refilled_at: now, failures: 0, closed_until: None };
        Self { per_minute, state: Mutex::new(state) }
    }

    /// Takes a call from the budget. The error is the number of microseconds to wait.
    pub(crate) fn try_enter(&self, now: Timestamp) -> Result<(), i64> {
        let mut state = self.state.lock();
        if let Some(until) = state.closed_until
            && until > now
        {
            return Err(until.as_micros() - now.as_micros());
        }
        let elapsed = (now.as_micros() - state.refilled_at.as_micros()).max(0) as f64;
        state.refilled_at = now;
        let refilled = elapsed / MINUTE_MICROS * self.per_minute;
        state.tokens = (state.tokens + refilled).min(self.per_minute);
        if state.tokens < 1.0 {
            let missing = (1.0 - state.tokens) / self.per_minute.max(1e-9) * MINUTE_MICROS;
            return Err(missing.ceil() as i64);
        }
        state.tokens -= 1.0;
        if state.closed_until.is_some() {
            // Others wait for the end of the probe.
            state.closed_until = Some(after(now, pause_micros(state.failures)));
        }
        Ok(())
    }

    /// Records the end of a call.
    pub(crate) fn record_outcome(&self, succeeded: bool, now: Timestamp) {
        let mut state = self.state.lock();
        if succeeded {
            state.failures = 0;
            state.closed_until = None;
            return;
        }
        state.failures = state.failures.saturating_add(1);
        if state.failures >= MAX_FAILURES {
            state.closed_until = Some(after(now, pause_micros(state.failures)));
        }
    }

    /// True while calls are refused because of failures.
    pub(crate) fn is_closed(&self, now: Timestamp) -> bool {
        self.state.lock().closed_until.is_some_and(|until| until > now)
    }
}

/// The pause doubles with each failure.
fn pause_micros(failures: u32) -> i64 {
    let doublings = failures.saturating_sub(MAX_FAILURES).min(10);
    (FIRST_PAUSE_MICROS << doublings).min(MAX_PAUSE_MICROS)
}

fn after(now: Timestamp, micros: i64) -> Timestamp {
    Timestamp::from_micros(now.as_micros() + micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_micros(1_800_000_000_000_000 + secs * 1_000_000)
    }

    #[test]
    fn calls_are_limited_per_minute_and_refilled() {
        let gate = CallGate::new(2, at(0));
        assert!(gate.try_enter(at(0)).is_ok());
        assert!(gate.try_enter(at(0)).is_ok());
        assert_eq!(gate.try_enter(at(0)), Err(30_000_000));
        assert!(gate.try_enter(at(30)).is_ok());
        assert!(gate.try_enter(at(31)).is_err());
        let none = CallGate::new(0, at(0));
        assert!(none.try_enter(at(3600)).is_err());
    }

    #[test]
    fn failures_in_a_row_pause_calls_and_one_probe_reopens() {
        let gate = CallGate::new(600, at(0));
        for _ in 0..3 {
            assert!(gate.try_enter(at(0)).is_ok());
            gate.record_outcome(false, at(0));
        }
        assert_eq!(gate.try_enter(at(1)), Err(29_000_000));
        assert!(gate.is_closed(at(1)));
        assert!(gate.try_enter(at(30)).is_ok(), "one probe");
        assert!(gate.try_enter(at(30)).is_err(), "while the probe runs");
        gate.record_outcome(false, at(31));
        assert_eq!(gate.try_enter(at(31)), Err(60_000_000), "the pause doubles");
        assert!(gate.try_enter(at(91)).is_ok());
        gate.record_outcome(true, at(92));
        assert!(gate.try_enter(at(92)).is_ok());
        assert!(!gate.is_closed(at(92)));
    }

    #[test]
    fn one_success_forgets_earlier_failures() {
        let gate = CallGate::new(600, at(0));
        for succeeded in [false, false, true, false, false] {
            gate.record_outcome(succeeded, at(0));
        }
        assert!(gate.try_enter(at(0)).is_ok());
    }
}
