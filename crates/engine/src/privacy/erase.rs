//! Erases a user: an event says that somebody was erased, and what they did becomes stubs.

use std::error::Error as _;
use std::time::Duration;

use connectors::HistoryKey;
use model::{ANONYMOUS, Change, Mac, Rule, Scope, UserId, Write};
use store::ErasedCounts;

use crate::error::FlowError;
use crate::privacy::Privacy;
use crate::turns::log_copier::CopySettings;

/// How long the mirror is waited for, until no copy has what was erased.
const MIRROR_WAIT: Duration = Duration::from_secs(10);

const COPIES_LEFT: &str = "the user is erased from the store; copies of turn logs are not gone yet, since their \
    place does not answer, and go as soon as it does: ask again to hear that they are gone";
const REST_LEFT: &str = "the user is erased from the store; not all that follows from it could be done yet: copies, or \
    the store's files, may still have what was. It is gone on with; ask again to hear that it is done";

impl Privacy {
    /// Erases a user and answers what was erased. Nothing of their words or their name is left in
    /// the store's files when this returns.
    pub async fn erase_user(
        &self,
        scope: &Scope,
        user: &UserId,
        copies: &CopySettings,
    ) -> Result<ErasedCounts, FlowError> {
        if user.as_str() == ANONYMOUS {
            // Reactions of nobody in particular go by that name, and would go by another one after a rebuild.
            let why = "anonymous stands for everybody whom nobody named, and cannot be erased";
            return Err(FlowError::NotPossible(why.into()));
        }
        // What a router chose for them is in the log before it is emptied.
        self.routing.store_choices().await;
        let (counts, turns) = self.core.store.user_data(scope, user).await?;
        let now = self.core.clock.now();
        let rule = Rule::Erasure { events: counts.events, turns: counts.turns };
        let event = ingest::rule_event(scope, None, &rule, self.core.ids.event_id(now), now);
        let mut write: Write = self.core.build_write(event, Mac([0; 16]), None);
        // The event itself says nothing of whom; a rebuild finds the stubs.
        write.entry.changes = vec![Change::EraseUser(user.clone())];
        let erasure = write.entry.event.clone();
        let routed = self.routing.states.find_project(scope);
        if let Some(project) = &routed {
            // Before, so that a crash in between leaves nothing that nobody can name any more.
            let own = self.core.store.turns_of(scope, user).await?;
            project.erase_user(&*self.core.store, user, &own, &turns, &erasure).await?;
        }
        self.core.commit_one(write).await?;
        self.insights.patterns.clear();
        self.insights.drafts.clear();
        let asker = HistoryKey::User(scope.clone(), user.clone());
        if self.turns.history.backend().forget(&asker).await.is_err() {
            tracing::warn!(
                "the history of questions is away; what the erased user asked lately goes from it when it \
                 is back, or by itself after the window for retries"
            );
        }
        if self.training_data.refresh_examples(scope).await.is_err() {
            // Read again by whoever asks next.
            self.training_data.examples.clear();
        }
        let forgotten = match &routed {
            Some(project) => {
                project.erase_late_turns(&*self.core.store, Some(user), &erasure).await
            }
            None => Ok(()),
        };
        let settled = self.settle_copies(scope, copies).await;
        // Last, since the others write too; and whatever became of them, the store's own files keep nothing.
        let scrubbed = self.scrub().await;
        let rest = forgotten.map_err(FlowError::from).and(settled).and(scrubbed);
        rest.map_err(unfinished)?;
        tracing::info!(events = counts.events, turns = counts.turns, "a user was erased");
        Ok(counts)
    }

    /// Until no copy has what was erased, also when that was an earlier request's doing: what a place
    /// that was away still keeps is remembered in the store.
    async fn settle_copies(&self, scope: &Scope, copies: &CopySettings) -> Result<(), FlowError> {
        if copies.place.is_none() {
            return Ok(self.turns.log_copier(copies.clone()).refresh_erased_copies().await?);
        }
        // The mirror itself does it, so that it writes no older state behind it.
        let settled = async {
            while !self.core.store.copies_due(Some(scope.clone()), 1).await?.is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(())
        };
        match tokio::time::timeout(MIRROR_WAIT, settled).await {
            Ok(result) => result,
            Err(_) => {
                tracing::warn!("copies of what was erased are still kept; they go when they can");
                Err(FlowError::Unfinished(COPIES_LEFT))
            }
        }
    }
}

/// Whatever goes wrong behind the commit, the user is erased: nobody may hear that nothing was changed.
fn unfinished(error: FlowError) -> FlowError {
    if matches!(error, FlowError::Unfinished(_)) {
        return error;
    }
    let cause = error.source().unwrap_or(&error);
    tracing::warn!(error = %cause, "a user is erased, and what follows from it is not done yet");
    FlowError::Unfinished(REST_LEFT)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use connectors::{BlobStore, ConnectorError, ConnectorFuture};
    use model::{ConversationId, Event, Kind, Position, Source, Tenant, TurnId, Type, Window};
    use store::QualityQuery;

    use super::*;
    use crate::insights::patterns::{FailureReport, PatternMiddles};
    use crate::test_engine::{NOW, TestEngine, open_test_engine};

    fn report() -> Arc<FailureReport> {
        Arc::new(FailureReport {
            middles: PatternMiddles::default(),
            at: NOW,
            negatives: 0,
            truncated: false,
            patterns: Vec::new(),
            suggestions: Vec::new(),
            most_corrected: Vec::new(),
            shared: std::collections::BTreeSet::new(),
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
            bucket_hours: 1,
            bucket_shift: 0,
        }
    }

    fn about() -> crate::insights::drafts::Topic {
        (Scope::default(), "ann asked".to_owned())
    }

    #[test]
    fn whatever_is_left_to_do_the_user_is_erased() {
        let away = || FlowError::Store(store::StoreError::Unavailable("no way".into()));
        let rows = [
            (away(), REST_LEFT),
            (FlowError::NotStored, REST_LEFT),
            (FlowError::Unfinished(COPIES_LEFT), COPIES_LEFT),
            (
                FlowError::Unfinished(crate::privacy::scrub::READERS_LEFT),
                crate::privacy::scrub::READERS_LEFT,
            ),
        ];
        for (error, expected) in rows {
            assert_eq!(unfinished(error).to_string(), expected);
            assert!(expected.contains("is erased from the store"), "{expected}");
        }
    }

    #[tokio::test]
    async fn nobody_in_particular_cannot_be_erased() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        let (scope, nobody) = (Scope::default(), UserId::new(ANONYMOUS).unwrap());
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        let erased = engine.privacy.erase_user(&scope, &nobody, &copies).await;
        assert!(matches!(erased, Err(FlowError::NotPossible(_))), "{erased:?}");
        assert_eq!(engine.core.head(), Position(0));
    }

    #[tokio::test]
    async fn what_was_found_before_is_found_anew_without_the_erased() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        let long = Duration::from_secs(9);
        let before = engine.insights.patterns.generation();
        engine.insights.patterns.keep(query(), Position(0), NOW, long, before, &report());
        engine.insights.drafts.remember(
            engine.insights.drafts.generation(),
            about(),
            "Tell Ann.".into(),
        );
        let known = || engine.insights.patterns.fitting(&query(), Position(9), NOW).is_some();
        assert!(known() && engine.insights.drafts.known(&about()).is_some());
        let (scope, ann) = (Scope::default(), UserId::new("ann").unwrap());
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        engine.privacy.erase_user(&scope, &ann, &copies).await.unwrap();
        assert!(!known() && engine.insights.drafts.known(&about()).is_none());
        // Whoever began before it was done does not bring it back.
        engine.insights.patterns.keep(query(), Position(0), NOW, long, before, &report());
        engine.insights.drafts.remember(0, about(), "Tell Ann.".into());
        assert!(!known() && engine.insights.drafts.known(&about()).is_none());
    }

    /// A place in which nothing can be done.
    struct Away;

    impl BlobStore for Away {
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
    async fn nothing_is_left_in_the_files_also_where_copies_are_out_of_reach() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        let (scope, ann) = (Scope::default(), UserId::new("ann").unwrap());
        let data = serde_json::json!({"phase": "opened", "text": "What now?"});
        let event = Event {
            kind: Kind { event_type: Type::Query, source: Source::Turn },
            user: Some(ann.clone()),
            conversation: ConversationId::new("c1").ok(),
            turn: TurnId::new("t1").ok(),
            data: data.as_object().unwrap().clone(),
            ..testkit::event(&scope, "open")
        };
        let opened = Change::OpenTurn { track: None, bundle: None, user_type: None, intent: None };
        engine.core.store.commit(vec![Write::of(event, vec![opened])]).await.unwrap();
        let copies = CopySettings { place: None, previous_places: vec![Arc::new(Away)] };
        let erased = engine.privacy.erase_user(&scope, &ann, &copies).await;
        assert!(matches!(erased, Err(FlowError::Unfinished(REST_LEFT))), "{erased:?}");
        let log = std::fs::metadata(folder.path().join("uptake.db-wal")).unwrap();
        assert_eq!(log.len(), 0, "what was written before is still there");
    }
}
