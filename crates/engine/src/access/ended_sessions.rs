//! Page sessions that were ended before they expired. Every page request checks this in-memory
//! copy; the store is authoritative.

use std::collections::HashMap;

use model::Timestamp;
use parking_lot::RwLock;
use store::{Store, StoreError};
use tokio::sync::watch;

#[derive(Debug, Default)]
pub(crate) struct EndedSessions {
    ended: RwLock<HashMap<String, Timestamp>>,
    /// Set when the store was restored from a backup. Earlier sessions all count as ended, since
    /// the backup cannot know which were.
    restored_at: Option<Timestamp>,
    /// Notified when a session may have ended or a key may have been revoked.
    changes: watch::Sender<()>,
}

impl EndedSessions {
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let ended = RwLock::new(store.ended_visits().await?.into_iter().collect());
        Ok(Self {
            ended,
            restored_at: store.restored_at().await?,
            changes: watch::Sender::default(),
        })
    }

    /// Adds the sessions of `more` that have not expired.
    pub(crate) fn merge(&self, more: Self, now: Timestamp) {
        let more = more.ended.into_inner();
        for (id, expires_at) in more {
            if expires_at > now && !self.is_listed(&id) {
                self.mark_ended(&id, expires_at, now);
            }
        }
    }

    /// Adds a session until its expiry, and drops expired ones.
    pub(crate) fn mark_ended(&self, id: &str, expires_at: Timestamp, now: Timestamp) {
        let mut ended = self.ended.write();
        ended.retain(|_, expires_at| *expires_at > now);
        ended.insert(id.to_owned(), expires_at);
        drop(ended);
        self.notify_watchers();
    }

    /// Makes waiting readers check their access again.
    pub(crate) fn notify_watchers(&self) {
        self.changes.send_replace(());
    }

    /// Receives a notification for every change.
    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub(crate) fn is_ended(&self, id: &str, started_at: Timestamp) -> bool {
        self.restored_at.is_some_and(|at| started_at <= at) || self.is_listed(id)
    }

    fn is_listed(&self, id: &str) -> bool {
        self.ended.read().contains_key(id)
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
