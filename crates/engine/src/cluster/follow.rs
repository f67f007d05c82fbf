//! Follows the shared log: entries of other nodes reach every service through `on_commit`.

use std::sync::Arc;
use std::time::Duration;

use model::Position;
use store::{ForeignRange, StoredEvent};

use crate::changes::changes_of;
use crate::cluster::Cluster;
use crate::core::commit::{CommitSource, CommitSummary};
use crate::error::EngineError;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;

/// Events per read.
const PAGE_EVENTS: usize = 1_000;
/// Keys are reloaded when the store notifies of a change, and in this period in case one was made
/// by hand.
const KEY_RELOAD_INTERVAL: Duration = Duration::from_secs(30);
const KEY_RETRY_DELAY: Duration = Duration::from_secs(1);
/// The pause after a failed attempt.
const RETRY_DELAY: Duration = Duration::from_millis(500);

impl Cluster {
    /// Starts following other nodes where nodes share a store.
    pub(crate) fn spawn_following(self: &Arc<Self>) {
        if self.core.store.is_shared() {
            let cluster = Arc::clone(self);
            self.core.tasks.spawn_task(|stop| follow_log(cluster, stop));
            let cluster = Arc::clone(self);
            self.core.tasks.spawn_task(|stop| follow_keys(cluster, stop));
        }
    }

    /// Reads the entries of other nodes after `after` and advances it. Services have seen the
    /// entries of this node when they were committed.
    async fn catch_up(&self, after: &mut Position) -> Result<(), EngineError> {
        self.core.missed_commits.retry(&self.core).await?;
        loop {
            let ForeignRange { after: from, upto } = self.core.store.foreign_range(*after);
            *after = from;
            if upto.is_none() && from >= self.core.head() {
                return Ok(());
            }
            let count = upto.map_or(u64::MAX, |upto| upto.0 - from.0);
            let most = usize::try_from(count).unwrap_or(PAGE_EVENTS).min(PAGE_EVENTS);
            if self.read_entries(after, most).await? == 0 {
                // Retention has dropped the entries in between.
                let Some(upto) = upto else { return Ok(()) };
                *after = upto;
            }
        }
    }

    /// Reads the next entries and notifies every service. Returns how many there were.
    async fn read_entries(&self, after: &mut Position, most: usize) -> Result<usize, EngineError> {
        let page = self.core.store.tail(*after, most).await?;
        let Some(last) = page.last() else { return Ok(0) };
        let last = last.position;
        let mut summary = CommitSummary::new(CommitSource::Log);
        summary.upto = last;
        for StoredEvent { event, .. } in &page {
            summary.add_event(event, &changes_of(event));
        }
        self.core.notify_observers(&summary).await?;
        *after = last;
        Ok(page.len())
    }
}

async fn follow_log(cluster: Arc<Cluster>, mut stop: StopSignal) {
    let mut heads = cluster.core.store.watch();
    let mut position = cluster.opened_at;
    loop {
        let failed = cluster.catch_up(&mut position).await.is_err_and(|error| {
            log_retriable(error, "entries of other nodes could not be read; retrying");
            true
        });
        tokio::select! {
            _ = stop.changed() => return,
            changed = heads.changed(), if !failed => {
                if changed.is_err() {
                    return; // the store is closed
                }
            }
            () = cluster.core.missed_commits.wait(), if !failed => {}
            () = tokio::time::sleep(RETRY_DELAY), if failed => {}
        }
    }
}

async fn follow_keys(cluster: Arc<Cluster>, mut stop: StopSignal) {
    let mut peers = cluster.core.store.watch_peers();
    loop {
        // Before the reload, so that a later change leads to another one.
        if peers.borrow_and_update().went_back {
            cluster.outdated.send_replace(true);
            return;
        }
        let is_reloaded = cluster.access.reload().await;
        let pause = if is_reloaded { KEY_RELOAD_INTERVAL } else { KEY_RETRY_DELAY };
        tokio::select! {
            _ = stop.changed() => return,
            changed = peers.changed() => {
                if changed.is_err() {
                    return; // the store is closed
                }
            }
            () = tokio::time::sleep(pause) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use connectors::HistoryKey;
    use model::{Role, Rule, Scope, UserId};

    use super::*;
    use crate::access::keys::NewKey;
    use crate::access::page_sessions::PageAccess;
    use crate::test_engine::{NOW, TestEngine, open_test_engine, question_event};

    #[tokio::test]
    async fn history_erasure_of_a_peer_removes_only_that_users_earlier_questions() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        // These questions are not in the log yet, so a reload could not restore them.
        for (turn, user, secs) in [("t1", "ann", -1), ("t2", "bob", -1), ("t3", "ann", 1)] {
            engine.turns.history.add_question(&question_event(turn, user, secs)).await;
        }
        let ann = UserId::new("ann").ok();
        engine.core.store_rule(&Scope::default(), ann, Rule::HistoryForgotten).await.unwrap();
        engine.cluster.read_entries(&mut Position(0), PAGE_EVENTS).await.unwrap();
        for (user, expected) in [("ann", "t3"), ("bob", "t2")] {
            let asker = HistoryKey::from_event(&question_event("x", user, 0)).unwrap();
            let recent = engine.turns.history.recent_questions(&asker, NOW.plus_secs(2)).await;
            let turns: Vec<String> =
                recent.into_iter().map(|(asked, _)| asked.turn.to_string()).collect();
            assert_eq!(turns, [expected], "{user}");
        }
    }

    #[tokio::test]
    async fn key_revoked_on_a_peer_ends_its_waiting_requests() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, store, .. } = open_test_engine(folder.path()).await;
        let (engine, tenant) = (Arc::new(engine), Scope::default().tenant);
        let new = NewKey { tenant, project: None, role: Role::Read, rate: None, origin: None };
        let (key, _) = engine.access.create_key(new).await.unwrap();
        store.revoke_key(&key.id, NOW).await.unwrap();
        let (scopes, pass) = ([Scope::default()], PageAccess::Key(key.id));
        let waits =
            engine.feedback.wait_for_events(&scopes, engine.core.head(), Duration::ZERO, &pass);
        let following = follow_keys(Arc::clone(&engine.cluster), engine.core.tasks.stop_signal());
        let ended = async {
            tokio::select! {
                found = waits => found,
                () = following => panic!("following must not end"),
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(60), ended).await.unwrap();
        assert_eq!(found.unwrap(), None);
    }
}
