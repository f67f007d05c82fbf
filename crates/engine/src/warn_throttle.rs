//! Limits the warnings of an operation that is retried, and logs its recovery.

use std::time::Duration;

use store::{Stopwatch, StoreError};

/// Minimum time between two warnings.
const WARN_INTERVAL: Duration = Duration::from_secs(60);

/// The time since the last warning; `None` while the operation succeeds.
#[derive(Debug, Default)]
pub(crate) struct WarnThrottle(Option<Stopwatch>);

impl WarnThrottle {
    /// Logs a failed attempt: as a warning once per interval, otherwise at debug level.
    pub(crate) fn log_failure(&mut self, error: &StoreError, what: &'static str) {
        match self.is_warning_due(WARN_INTERVAL) {
            true => tracing::warn!(%error, "{what}"),
            false => tracing::debug!(%error, "{what}"),
        }
    }

    /// Logs the first success after a failure.
    pub(crate) fn log_recovery(&mut self, what: &'static str) {
        if self.0.take().is_some() {
            tracing::info!("{what}");
        }
    }

    fn is_warning_due(&mut self, quiet: Duration) -> bool {
        if self.0.as_ref().is_some_and(|warned| warned.elapsed() < quiet) {
            return false;
        }
        self.0 = Some(Stopwatch::start());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_warn_first_and_then_once_per_interval() {
        let mut warnings = WarnThrottle::default();
        assert!(warnings.is_warning_due(Duration::MAX));
        assert!(!warnings.is_warning_due(Duration::MAX), "within the interval");
        assert!(warnings.is_warning_due(Duration::ZERO), "after the interval");
        warnings.log_recovery("recovered");
        assert!(warnings.is_warning_due(Duration::MAX), "a new failure warns at once");
    }
}
