//! Visits that were ended before their time, in memory, because every page asks; the store has the truth.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use model::Timestamp;
use store::{Store, StoreError};
use tokio::sync::watch;

/// Visits that were ended before their time, as far as this node knows.
#[derive(Debug, Default)]
pub(crate) struct EndedVisits {
    ended: RwLock<HashMap<String, Timestamp>>,
    /// All that began before are ended: the store came from a backup then, which cannot know.
    restored_at: Option<Timestamp>,
    /// Moves when somebody may have lost what they look by.
    ends: watch::Sender<()>,
}

impl EndedVisits {
    /// Those that the store knows.
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let ended = RwLock::new(store.ended_visits().await?.into_iter().collect());
        Ok(Self { ended, restored_at: store.restored_at().await?, ends: watch::Sender::default() })
    }

    /// These too, but for those that are over by now.
    pub(crate) fn take_over(&self, more: Self, now: Timestamp) {
        let more = more.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (id, until) in more {
            if until > now && !self.is_noted(&id) {
                self.note(&id, until, now);
            }
        }
    }

    /// One more, until then. Those that are over by now are forgotten.
    pub(crate) fn note(&self, id: &str, until: Timestamp, now: Timestamp) {
        let mut ended = self.ended.write().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|_, until| *until > now);
        ended.insert(id.to_owned(), until);
        drop(ended);
        self.wake();
    }

    /// Has whoever follows something look again whether they still may.
    pub(crate) fn wake(&self) {
        self.ends.send_replace(());
    }

    /// For whoever follows something.
    pub(crate) fn watch(&self) -> watch::Receiver<()> {
        self.ends.subscribe()
    }

    /// Whether it was ended.
    pub(crate) fn has(&self, id: &str, begun: Timestamp) -> bool {
        self.restored_at.is_some_and(|at| begun <= at) || self.is_noted(id)
    }

    fn is_noted(&self, id: &str) -> bool {
        self.ended.read().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_visit_is_forgotten_when_it_is_over() {
        let (ended, now) = (EndedVisits::default(), Timestamp::from_micros(0));
        ended.note("a", now.plus_secs(10), now);
        let has = |id: &str| ended.has(id, now);
        assert!(has("a") && !has("b"));
        let more = EndedVisits::default();
        more.note("b", now.plus_secs(30), now);
        ended.take_over(more, now.plus_secs(20));
        assert!(!has("a") && has("b"));
        ended.note("c", now.plus_secs(50), now.plus_secs(40));
        assert!(!has("b") && has("c"));
    }

    #[test]
    fn after_a_restore_only_visits_that_begin_later_go_on() {
        let now = Timestamp::from_micros(0);
        let ended = EndedVisits { restored_at: Some(now), ..EndedVisits::default() };
        assert!(ended.has("a", now.plus_secs(-9)) && !ended.has("a", now.plus_secs(1)));
    }
}
