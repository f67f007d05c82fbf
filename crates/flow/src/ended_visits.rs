//! Visits that were ended before their time, in memory, because every page asks; the store has the truth.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use event::Timestamp;
use store::{Store, StoreError};

/// Visits that were ended before their time, as far as this node knows.
#[derive(Debug, Default)]
pub(crate) struct EndedVisits(RwLock<HashMap<String, Timestamp>>);

impl EndedVisits {
    /// Those that the store knows.
    pub(crate) async fn load(store: &dyn Store) -> Result<Self, StoreError> {
        Ok(Self(RwLock::new(store.ended_visits().await?.into_iter().collect())))
    }

    /// These too. Those that are over by now are forgotten.
    pub(crate) fn take_over(&self, more: Self, now: Timestamp) {
        let more = more.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut ended = self.0.write().unwrap_or_else(PoisonError::into_inner);
        ended.extend(more);
        ended.retain(|_, until| *until > now);
    }

    /// One more, until then.
    pub(crate) fn note(&self, id: &str, until: Timestamp) {
        let mut ended = self.0.write().unwrap_or_else(PoisonError::into_inner);
        ended.insert(id.to_owned(), until);
    }

    /// Whether it was ended.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_visit_is_forgotten_when_it_is_over() {
        let (ended, now) = (EndedVisits::default(), Timestamp::from_micros(0));
        ended.note("a", now.plus_secs(10));
        assert!(ended.has("a") && !ended.has("b"));
        let more = EndedVisits::default();
        more.note("b", now.plus_secs(30));
        ended.take_over(more, now.plus_secs(20));
        assert!(!ended.has("a") && ended.has("b"));
    }
}
