//! What was said of something that is tried again and again: that it fails, now and then, and that it works again.

use std::time::Duration;

use store::{Stopwatch, StoreError};

/// Between two warnings.
const WARN_INTERVAL: Duration = Duration::from_secs(60);

/// When it was last said that it fails, as long as it does.
#[derive(Debug, Default)]
pub(crate) struct WarnThrottle(Option<Stopwatch>);

impl WarnThrottle {
    /// It failed, and is tried again.
    pub(crate) fn log_failure(&mut self, error: &StoreError, what: &'static str) {
        match self.is_warning_due(WARN_INTERVAL) {
            true => tracing::warn!(%error, "{what}"),
            false => tracing::debug!(%error, "{what}"),
        }
    }

    /// It worked.
    pub(crate) fn log_recovery(&mut self, what: &'static str) {
        if self.0.take().is_some() {
            tracing::info!("{what}");
        }
    }

    fn is_warning_due(&mut self, quiet: Duration) -> bool {
        if self.0.as_ref().is_some_and(|said| said.elapsed() < quiet) {
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
        let mut said = WarnThrottle::default();
        assert!(said.is_warning_due(Duration::MAX));
        assert!(!said.is_warning_due(Duration::MAX), "it goes on");
        assert!(said.is_warning_due(Duration::ZERO), "it has gone on for long");
        said.log_recovery("it works");
        assert!(said.is_warning_due(Duration::MAX), "it begins anew");
    }
}
