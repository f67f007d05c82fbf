//! Erases a user: commits an erasure event and turns the user's events into stubs.

use std::error::Error as _;
use std::time::Duration;

use connectors::HistoryKey;
use model::{ANONYMOUS, Change, Mac, Rule, Scope, UserId, Write};
use store::ErasedCounts;

use crate::error::EngineError;
use crate::privacy::Privacy;
use crate::turns::log_copier::CopySettings;

/// Time that an erasure waits for the deletion of turn log copies.
const COPY_DELETION_TIMEOUT: Duration = Duration::from_secs(10);

const COPIES_PENDING: &str = "the user is erased from the store; copies of turn logs are still being deleted because \
    their location does not respond. Repeat the request to confirm";
const CLEANUP_PENDING: &str = "the user is erased from the store; cleanup of copies and of the store's files has not \
    finished and continues in the background. Repeat the request to confirm";

impl Privacy {
    /// Erases a user and returns the counts. When this returns, the store's files hold neither the
    /// user's text nor the user's id.
    pub async fn erase_user(
        &self,
        scope: &Scope,
        user: &UserId,
        copies: &CopySettings,
    ) -> Result<ErasedCounts, EngineError> {
        if user.as_str() == ANONYMOUS {
            // Reactions without a user have this id. A rebuild would give them another one.
            let why = "anonymous stands for all users without an id and cannot be erased";
            return Err(EngineError::PreconditionFailed(why.into()));
        }
        // Routing choices for the user must be in the log before it is rewritten.
        self.routing.store_choices().await;
        let (counts, turns) = self.core.store.user_data(scope, user).await?;
        let now = self.core.clock.now();
        let rule = Rule::Erasure { events: counts.events, turns: counts.turns };
        let event = ingest::rule_event(scope, None, rule, self.core.ids.event_id(now), now);
        let mut write: Write = self.core.build_write(event, Mac([0; 16]), None);
        // The event does not name the user; a rebuild finds the stubs.
        write.entry.changes = vec![Change::EraseUser(user.clone())];
        let erasure = write.entry.event.clone();
        let routed = self.routing.states.find_project(scope);
        if let Some(project) = &routed {
            // Before the commit: after it, nothing names the user whose data a crash would leave
            // behind.
            let own = self.core.store.turns_of(scope, user).await?;
            project.erase_user(&self.core.store, user, &own, &turns, &erasure).await?;
        }
        self.core.commit_one(write).await?;
        self.insights.patterns.clear();
        self.insights.drafts.clear();
        let asker = HistoryKey::User(scope.clone(), user.clone());
        if self.turns.history.backend().forget(&asker).await.is_err() {
            tracing::warn!(
                "question history unavailable: the erased user's recent questions are removed when it \
                 returns, or expire after the retry window"
            );
        }
        if self.training_data.refresh_examples(scope).await.is_err() {
            // The next request reloads them.
            self.training_data.examples.clear();
        }
        let forgotten = match &routed {
            Some(project) => project.erase_late_turns(&self.core.store, Some(user), &erasure).await,
            None => Ok(()),
        };
        let settled = self.delete_copies(scope, copies).await;
        // Last, because the steps above write. It runs even if they failed, so that the store's
        // own files are clean.
        let scrubbed = self.scrub().await;
        let rest = forgotten.map_err(EngineError::from).and(settled).and(scrubbed);
        rest.map_err(into_incomplete)?;
        tracing::info!(events = counts.events, turns = counts.turns, "user erased");
        Ok(counts)
    }

    /// Waits until no copy holds erased data, including that of earlier requests. The store
    /// remembers copies at unreachable locations.
    async fn delete_copies(&self, scope: &Scope, copies: &CopySettings) -> Result<(), EngineError> {
        if copies.place.is_none() {
            return Ok(self.turns.log_copier(copies.clone()).refresh_erased_copies().await?);
        }
        // The mirror deletes them itself, so that it does not write an older state afterwards.
        let settled = async {
            while !self.core.store.copies_due(Some(scope.clone()), 1).await?.is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(())
        };
        match tokio::time::timeout(COPY_DELETION_TIMEOUT, settled).await {
            Ok(result) => result,
            Err(_) => {
                tracing::warn!("erasure pending: copies of turn logs still hold erased data");
                Err(EngineError::Incomplete(COPIES_PENDING))
            }
        }
    }
}

/// Any failure after the commit leaves the user erased, and the error must state that.
fn into_incomplete(error: EngineError) -> EngineError {
    if matches!(error, EngineError::Incomplete(_)) {
        return error;
    }
    let cause = error.source().unwrap_or(&error);
    tracing::warn!(error = %cause, "erasure pending: the user is erased, cleanup failed");
    EngineError::Incomplete(CLEANUP_PENDING)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use connectors::{BlobStore, ConnectorError, ConnectorFuture};
    use model::{
        Body, ConversationId, Event, Kind, Opening, Position, Source, Tenant, TurnHalf, TurnId,
        Type, Window,
    };
    use store::{QualityQuery, ReactionTime};

    use super::*;
    use crate::insights::failures::{FailureReport, PatternCentroids};
    use crate::test_engine::{NOW, TestEngine, open_test_engine};

    fn report() -> Arc<FailureReport> {
        Arc::new(FailureReport {
            centroids: PatternCentroids::default(),
            at: NOW,
            negatives: 0,
            truncated: false,
            patterns: Vec::new(),
            suggestions: Vec::new(),
            most_corrected: Vec::new(),
        })
    }

    fn query() -> QualityQuery {
        QualityQuery {
            tenant: Tenant::new("default").unwrap(),
            project: None,
            window: Window { start: NOW.plus_secs(-3600), end: NOW },
            model: None,
            prompt: None,
            users: None,
            by: ReactionTime::default(),
            bucket_hours: 1,
            bucket_shift: 0,
        }
    }

    fn draft_key() -> crate::insights::drafts::DraftKey {
        (Scope::default(), "ann asked".to_owned())
    }

    #[test]
    fn pending_cleanup_errors_state_that_the_user_is_erased() {
        let away = || EngineError::Store(store::StoreError::Unavailable("no way".into()));
        let rows = [
            (away(), CLEANUP_PENDING),
            (EngineError::NotStored, CLEANUP_PENDING),
            (EngineError::Incomplete(COPIES_PENDING), COPIES_PENDING),
            (
                EngineError::Incomplete(crate::privacy::scrub::READERS_PENDING),
                crate::privacy::scrub::READERS_PENDING,
            ),
        ];
        for (error, expected) in rows {
            assert_eq!(into_incomplete(error).to_string(), expected);
            assert!(expected.contains("is erased from the store"), "{expected}");
        }
    }

    #[tokio::test]
    async fn anonymous_user_cannot_be_erased() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        let (scope, anonymous) = (Scope::default(), UserId::new(ANONYMOUS).unwrap());
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        let erased = engine.privacy.erase_user(&scope, &anonymous, &copies).await;
        assert!(matches!(erased, Err(EngineError::PreconditionFailed(_))), "{erased:?}");
        assert_eq!(engine.core.head(), Position(0));
    }

    #[tokio::test]
    async fn erasure_clears_cached_patterns_and_drafts() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        let long = Duration::from_secs(9);
        let before = engine.insights.patterns.generation();
        engine.insights.patterns.insert(query(), Position(0), NOW, long, before, &report());
        engine.insights.drafts.insert(
            engine.insights.drafts.generation(),
            draft_key(),
            "Tell Ann.".into(),
        );
        let known = || engine.insights.patterns.find_fresh(&query(), Position(9), NOW).is_some();
        assert!(known() && engine.insights.drafts.get(&draft_key()).is_some());
        let (scope, ann) = (Scope::default(), UserId::new("ann").unwrap());
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        engine.privacy.erase_user(&scope, &ann, &copies).await.unwrap();
        assert!(!known() && engine.insights.drafts.get(&draft_key()).is_none());
        // A computation that began before the erasure is not cached.
        engine.insights.patterns.insert(query(), Position(0), NOW, long, before, &report());
        engine.insights.drafts.insert(0, draft_key(), "Tell Ann.".into());
        assert!(!known() && engine.insights.drafts.get(&draft_key()).is_none());
    }

    /// A blob store that is unreachable.
    struct UnreachableBlobs;

    impl BlobStore for UnreachableBlobs {
        fn put(&self, _: &Scope, _: &TurnId, _: String) -> ConnectorFuture<'_, String> {
            Box::pin(async { Err(ConnectorError::Unavailable("no way".into())) })
        }

        fn get(&self, _: &Scope, _: &TurnId) -> ConnectorFuture<'_, Option<String>> {
            Box::pin(async { Err(ConnectorError::Unavailable("no way".into())) })
        }

        fn delete(&self, _: &Scope, _: &TurnId) -> ConnectorFuture<'_, ()> {
            Box::pin(async { Err(ConnectorError::Unavailable("no way".into())) })
        }

        fn name(&self) -> String {
            "away".to_owned()
        }
    }

    #[tokio::test]
    async fn erasure_empties_the_wal_when_copies_are_unreachable() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        let (scope, ann) = (Scope::default(), UserId::new("ann").unwrap());
        let opening = Opening { text: "What now?".into(), ..Opening::default() };
        let event = Event {
            kind: Kind { event_type: Type::Query, source: Source::Turn },
            user: Some(ann.clone()),
            conversation: ConversationId::new("c1").ok(),
            turn: TurnId::new("t1").ok(),
            body: Body::Turn(TurnHalf::Opened(opening)),
            ..testkit::event(&scope, "open")
        };
        let opened = testkit::opening_change();
        engine
            .core
            .store
            .commit(vec![Write::new(testkit::redacted(event), vec![opened])])
            .await
            .unwrap();
        let copies =
            CopySettings { place: None, previous_places: vec![Arc::new(UnreachableBlobs)] };
        let erased = engine.privacy.erase_user(&scope, &ann, &copies).await;
        assert!(matches!(erased, Err(EngineError::Incomplete(CLEANUP_PENDING))), "{erased:?}");
        let log = std::fs::metadata(folder.path().join("uptake.db-wal")).unwrap();
        assert_eq!(log.len(), 0, "the WAL still holds erased data");
    }
}
