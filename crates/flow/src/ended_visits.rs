//! Visits that were ended before their time, in memory, because every page asks; the store has the truth.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use event::Timestamp;
use store::{Store, StoreError};

/// Visits that were ended before their time, as far as this node knows.
#[derive(Debug, Default)]
pub(crate) struct EndedVisits {
    ended: RwLock<HashMap<String, Timestamp>>,
    /// All that began before are ended: the store came from a backup then, which cannot know.
    restored_at: Option<Timestamp>,
}

impl EndedVisits {
    /// Those that the store knows.
    pub(crate) async fn load(store: &dyn Store) -> Result<Self, StoreError> {
        let ended = RwLock::new(store.ended_visits().await?.into_iter().collect());
        Ok(Self { ended, restored_at: store.restored_at().await? })
    }

    /// These too. Those that are over by now are forgotten.
    pub(crate) fn take_over(&self, more: Self, now: Timestamp) {
        let more = more.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut ended = self.ended.write().unwrap_or_else(PoisonError::into_inner);
        ended.extend(more);
        ended.retain(|_, until| *until > now);
    }

    /// One more, until then.
    pub(crate) fn note(&self, id: &str, until: Timestamp) {
        let mut ended = self.ended.write().unwrap_or_else(PoisonError::into_inner);
        ended.insert(id.to_owned(), until);
    }

    /// Whether it was ended.
    pub(crate) fn has(&self, id: &str, begun: Timestamp) -> bool {
        self.restored_at.is_some_and(|at| begun <= at)
            || self.ended.read().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_visit_is_forgotten_when_it_is_over() {
        let (ended, now) = (EndedVisits::default(), Timestamp::from_micros(0));
        ended.note("a", now.plus_secs(10));
        let has = |id: &str| ended.has(id, now);
        assert!(has("a") && !has("b"));
        let more = EndedVisits::default();
        more.note("b", now.plus_secs(30));
        ended.take_over(more, now.plus_secs(20));
        assert!(!has("a") && has("b"));
    }

    #[test]
    fn after_a_restore_only_visits_that_begin_later_go_on() {
        let now = Timestamp::from_micros(0);
        let ended = EndedVisits { restored_at: Some(now), ..EndedVisits::default() };
        assert!(ended.has("a", now.plus_secs(-9)) && !ended.has("a", now.plus_secs(1)));
    }
}
