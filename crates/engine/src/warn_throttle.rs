//! What was said of something that is tried again and again: that it fails, now and then, and that it works again.

use std::time::Duration;

use store::{Stopwatch, StoreError};

/// Between two warnings.
const QUIET: Duration = Duration::from_secs(60);

/// When it was last said that it fails, as long as it does.
#[derive(Debug, Default)]
pub(crate) struct Said(Option<Stopwatch>);

impl Said {
    /// It failed, and is tried again.
    pub(crate) fn failed(&mut self, error: &StoreError, what: &'static str) {
        match self.is_news(QUIET) {
            true => tracing::warn!(%error, "{what}"),
            false => tracing::debug!(%error, "{what}"),
        }
    }

    /// It worked.
    pub(crate) fn worked(&mut self, what: &'static str) {
        if self.0.take().is_some() {
            tracing::info!("{what}");
        }
    }

    fn is_news(&mut self, quiet: Duration) -> bool {
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
    fn trouble_is_said_when_it_begins_and_now_and_then() {
        let mut said = Said::default();
        assert!(said.is_news(Duration::MAX));
        assert!(!said.is_news(Duration::MAX), "it goes on");
        assert!(said.is_news(Duration::ZERO), "it has gone on for long");
        said.worked("it works");
        assert!(said.is_news(Duration::MAX), "it begins anew");
    }
}
