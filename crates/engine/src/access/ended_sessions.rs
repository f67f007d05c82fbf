//! Visits that were ended before their time, in memory, because every page asks; the store has the truth.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use model::Timestamp;
use store::{Store, StoreError};
use tokio::sync::watch;

/// Visits that were ended before their time, as far as this node knows.
#[derive(Debug, Default)]
pub(crate) struct EndedSessions {
    ended: RwLock<HashMap<String, Timestamp>>,
    /// All that began before are ended: the store came from a backup then, which cannot know.
    restored_at: Option<Timestamp>,
    /// Moves when somebody may have lost what they look by.
    changes: watch::Sender<()>,
}

impl EndedSessions {
    /// Those that the store knows.
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let ended = RwLock::new(store.ended_visits().await?.into_iter().collect());
        Ok(Self { ended, restored_at: store.restored_at().await?, changes: watch::Sender::default() })
    }

    /// These too, but for those that are over by now.
    pub(crate) fn merge(&self, more: Self, now: Timestamp) {
        let more = more.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (id, until) in more {
            if until > now && !self.is_listed(&id) {
                self.mark_ended(&id, until, now);
            }
        }
    }

    /// One more, until then. Those that are over by now are forgotten.
    pub(crate) fn mark_ended(&self, id: &str, until: Timestamp, now: Timestamp) {
        let mut ended = self.ended.write().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|_, until| *until > now);
        ended.insert(id.to_owned(), until);
        drop(ended);
        self.notify_watchers();
    }

    /// Has whoever follows something look again whether they still may.
    pub(crate) fn notify_watchers(&self) {
        self.changes.send_replace(());
    }

    /// For whoever follows something.
    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Whether it was ended.
    pub(crate) fn is_ended(&self, id: &str, begun: Timestamp) -> bool {
        self.restored_at.is_some_and(|at| begun <= at) || self.is_listed(id)
    }

    fn is_listed(&self, id: &str) -> bool {
        self.ended.read().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_session_is_dropped_after_its_expiry() {
        let (ended, now) = (EndedSessions::default(), Timestamp::from_micros(0));
        ended.mark_ended("a", now.plus_secs(10), now);
        let has = |id: &str| ended.is_ended(id, now);
        assert!(has("a") && !has("b"));
        let more = EndedSessions::default();
        more.mark_ended("b", now.plus_secs(30), now);
        ended.merge(more, now.plus_secs(20));
        assert!(!has("a") && has("b"));
        ended.mark_ended("c", now.plus_secs(50), now.plus_secs(40));
        assert!(!has("b") && has("c"));
    }

    #[test]
    fn restore_ends_all_earlier_sessions() {
        let now = Timestamp::from_micros(0);
        let ended = EndedSessions { restored_at: Some(now), ..EndedSessions::default() };
        assert!(ended.is_ended("a", now.plus_secs(-9)) && !ended.is_ended("a", now.plus_secs(1)));
    }
}
