//! Copies the log of every turn as a document to a table, a folder or a bucket.
//!
//! Follows the event log asynchronously: commits do not wait for copies, and failed copies are
//! retried. The cursor is stored with the copies, so a crash only repeats some work. In a
//! cluster the leader copies. A copy written under an expired lease may be stale and is made
//! again by the new leader.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use connectors::BlobStore;
use model::{Event, Position, Scope, Timestamp, TurnId, encode_url};
use store::{ConversationQuery, DueCopy, Lease, Store, StoreError, StoredEvent, TurnLogCopy};

use crate::cluster::leadership::{Authority, Leadership};
use crate::counters::Counters;
use crate::error::{EngineError, connector_error};
use crate::tasks::StopSignal;
use crate::turns::Turns;
use crate::warn_throttle::WarnThrottle;

/// Events per batch. A turn with several events in a batch is copied once.
const BATCH_EVENTS: usize = 1000;
/// Turns copied between two checks for pending erasures.
const TURNS_PER_ERASURE_CHECK: usize = 16;
const INITIAL_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(30);
const MAX_TURN_REACTIONS: usize = 1000;
/// Copies of erased users' turns that are settled in one write.
const BATCH_COPIES: usize = 100;

/// Storage of the copies.
#[derive(Clone)]
pub enum CopyPlace {
    /// A table of the store.
    Table,
    /// A folder or a bucket.
    Blobs(Arc<dyn BlobStore>),
}

impl CopyPlace {
    /// The name of the cursor. A new place gets its own, so that all turns are copied to it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Table => "table".to_owned(),
            Self::Blobs(blobs) => blobs.name(),
        }
    }
}

#[derive(Clone)]
pub struct CopySettings {
    /// `None` disables copies.
    pub place: Option<CopyPlace>,
    /// Places of earlier configurations. Copies are deleted there.
    pub previous_places: Vec<Arc<dyn BlobStore>>,
}

impl std::fmt::Debug for CopySettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.place.as_ref().map(CopyPlace::name);
        f.debug_struct("Copies").field("place", &place).finish_non_exhaustive()
    }
}

impl Turns {
    /// Spawns the copier, which continues at its cursor. Without a place, the copies of an earlier
    /// run are forgotten, because they would become stale. Call it once, before serving.
    pub async fn spawn_log_copier(&self, copies: CopySettings) -> Result<(), EngineError> {
        if copies.place.is_none() {
            self.core.store.forget_copies().await?;
        }
        let mirror = self.log_copier(copies);
        self.core.tasks.spawn_task(|stop| mirror.run(stop));
        Ok(())
    }

    pub(crate) fn log_copier(&self, copies: CopySettings) -> LogCopier {
        LogCopier {
            store: Arc::clone(&self.core.store),
            counters: Arc::clone(&self.core.counters),
            leadership: Arc::clone(&self.cluster.leadership),
            copies,
        }
    }

    pub async fn load_turn_log_copy(
        &self,
        scope: &Scope,
        turn: &TurnId,
        place: Option<&CopyPlace>,
    ) -> Result<Option<String>, EngineError> {
        match place {
            None => Ok(None),
            Some(CopyPlace::Table) => {
                Ok(self.core.store.find_copy(scope, turn).await?.and_then(|copy| copy.document))
            }
            Some(CopyPlace::Blobs(blobs)) => Ok(blobs.get(scope, turn).await?),
        }
    }
}

pub(crate) struct LogCopier {
    store: Arc<Store>,
    counters: Arc<Counters>,
    leadership: Arc<Leadership>,
    copies: CopySettings,
}

impl LogCopier {
    /// Rewrites or deletes the copies of erased users' turns.
    pub(crate) async fn refresh_erased_copies(&self) -> Result<(), StoreError> {
        loop {
            let due = self.store.copies_due(None, BATCH_COPIES).await?;
            if due.is_empty() {
                return Ok(());
            }
            // Any node may delete copies.
            let authority = if self.copies.place.is_none() {
                Some(Authority::Sole)
            } else {
                self.leadership.authority()
            };
            let Some(lease) = authority.map(Authority::into_lease) else { return Ok(()) };
            let mut refreshed = Vec::new();
            for DueCopy { scope, turn, .. } in &due {
                let copy = match self.copy_turn(scope, turn.clone()).await {
                    Ok(copy) => copy,
                    Err(error) if error.is_lasting() => None,
                    Err(error) => return Err(error),
                };
                if let (None, Some(CopyPlace::Blobs(blobs))) = (&copy, &self.copies.place) {
                    blobs.delete(scope, turn).await.map_err(connector_error)?;
                }
                refreshed.extend(copy);
            }
            self.store.settle_copies(due, refreshed, lease).await?;
        }
    }

    async fn run(self, mut stop: StopSignal) {
        let mut head = self.store.watch();
        let (mut pause, mut warnings) = (INITIAL_BACKOFF, WarnThrottle::default());
        while self.leadership.wait_until_leader(&mut stop).await {
            let step = self.copy_batch().await;
            if step.is_ok() {
                warnings.log_recovery("copying of turn logs recovered");
            }
            let waited = match step {
                Ok(CopyStep::Disabled) => return,
                Ok(CopyStep::More) => {
                    pause = INITIAL_BACKOFF;
                    continue;
                }
                Ok(CopyStep::CaughtUp(done)) => {
                    pause = INITIAL_BACKOFF;
                    tokio::select! {
                        _ = stop.changed() => continue,
                        changed = head.wait_for(|newest| *newest > done) => changed.is_ok(),
                        // Another node may have left erased copies to refresh.
                        () = tokio::time::sleep(MAX_BACKOFF) => true,
                    }
                }
                Err(error) => {
                    self.counters.count_failed_copy();
                    warnings.log_failure(&error, "turn logs could not be copied; retrying");
                    tokio::select! {
                        _ = stop.changed() => continue,
                        () = tokio::time::sleep(pause) => {}
                    }
                    pause = (pause * 2).min(MAX_BACKOFF);
                    true
                }
            };
            if !waited {
                return;
            }
        }
    }

    /// Copies the turns of the next batch of events.
    async fn copy_batch(&self) -> Result<CopyStep, StoreError> {
        self.refresh_erased_copies().await?;
        let Some(place) = &self.copies.place else { return Ok(CopyStep::Disabled) };
        let Some(authority) = self.leadership.authority() else { return Ok(CopyStep::More) };
        let lease = authority.into_lease();
        let done = self.store.mirror_position(&place.name()).await?;
        let events = self.store.tail(done, BATCH_EVENTS).await?;
        let Some(last) = events.last() else { return Ok(CopyStep::CaughtUp(done)) };
        let upto = last.position;
        let copies = self.copy_turns(events, (place, done, lease.as_ref())).await?;
        self.store.note_copies(&place.name(), copies, upto, lease).await?;
        Ok(CopyStep::More)
    }

    /// Copies the turns of these events. Returns the copies that are not recorded in the store yet.
    async fn copy_turns(
        &self,
        events: Vec<StoredEvent>,
        (place, done, lease): (&CopyPlace, Position, Option<&Lease>),
    ) -> Result<Vec<TurnLogCopy>, StoreError> {
        let mut turns = BTreeSet::new();
        let mut scopes: Vec<Scope> = Vec::new();
        for stored in events {
            let Event { turn, scope, .. } = stored.event.into_inner();
            let Some(turn) = turn else { continue };
            let number = scopes.iter().position(|known| *known == scope).unwrap_or_else(|| {
                scopes.push(scope);
                scopes.len() - 1
            });
            turns.insert((number, turn));
        }
        let mut copies = Vec::with_capacity(turns.len());
        for (copied, (number, turn)) in turns.into_iter().enumerate() {
            // An erasure must not wait for the whole batch.
            if copied.is_multiple_of(TURNS_PER_ERASURE_CHECK)
                && !self.store.copies_due(None, 1).await?.is_empty()
            {
                // Copies so far may predate the erasure. They are recorded first, so that they do not
                // overwrite the refreshed ones.
                let finished = std::mem::take(&mut copies);
                self.store.note_copies(&place.name(), finished, done, lease.cloned()).await?;
                self.refresh_erased_copies().await?;
            }
            match self.copy_turn(&scopes[number], turn.clone()).await {
                Ok(copy) => copies.extend(copy),
                // A permanent error: retrying would only block the other turns.
                Err(error) if error.is_lasting() => {
                    tracing::error!(%turn, %error, "turn log cannot be copied; skipping it");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(copies)
    }

    /// Writes the copy of a turn and deletes it from previous places.
    async fn copy_turn(
        &self,
        scope: &Scope,
        turn: TurnId,
    ) -> Result<Option<TurnLogCopy>, StoreError> {
        for other in &self.copies.previous_places {
            other.delete(scope, &turn).await.map_err(connector_error)?;
        }
        let Some(place) = &self.copies.place else { return Ok(None) };
        let Some(stored) = self.store.turns(scope, vec![turn.clone()]).await?.pop() else {
            // Only feedback refers to the turn so far. Its opening will trigger the copy.
            return Ok(None);
        };
        let Some(conversation) = stored.head.conversation.clone() else { return Ok(None) };
        let reactions = self
            .store
            .conversation_reactions(ConversationQuery {
                scope: scope.clone(),
                conversation,
                turns: Some(vec![turn.clone()]),
                since: Timestamp::from_micros(0),
                limit: MAX_TURN_REACTIONS,
            })
            .await?;
        // The position of the newest event identifies the copied state.
        let state = stored.events.last().map_or(Position(0), |newest| newest.position);
        let document = crate::report::turn_log(&stored, &reactions).to_json().to_string();
        let (hosted_uri, document) = match place {
            CopyPlace::Table => {
                let turn = encode_url(turn.as_str());
                (format!("uptake:turn-log:{turn}?position={state}"), Some(document))
            }
            CopyPlace::Blobs(blobs) => {
                let uri = blobs.put(scope, &turn, document).await.map_err(connector_error)?;
                (format!("{uri}?position={state}"), None)
            }
        };
        Ok(Some(TurnLogCopy { scope: scope.clone(), turn, hosted_uri, document }))
    }
}

enum CopyStep {
    /// More events may be waiting.
    More,
    CaughtUp(Position),
    Disabled,
}

#[cfg(test)]
mod tests {
    use connectors::ConnectorFuture;
    use model::{Body, Change, Event, Kind, Opening, Source, TurnHalf, Type, UserId, Write};
    use parking_lot::Mutex;

    use super::*;
    use crate::test_engine::{TestEngine, open_test_engine};

    /// Records the turns that were written or deleted. Erases Ann during the first write.
    struct ErasingBlobs {
        store: Arc<Store>,
        touched: Mutex<Vec<String>>,
    }

    impl BlobStore for ErasingBlobs {
        fn put(&self, scope: &Scope, turn: &TurnId, _: String) -> ConnectorFuture<'_, String> {
            let mut touched = self.touched.lock();
            touched.push(turn.to_string());
            let (is_first, scope) = (touched.len() == 1, scope.clone());
            Box::pin(async move {
                if is_first {
                    let erase = vec![Change::EraseUser(UserId::new("ann").unwrap())];
                    let erasure =
                        Write::new(testkit::redacted(testkit::event(&scope, "erased")), erase);
                    self.store.commit(vec![erasure]).await.unwrap();
                }
                Ok("busy:".to_owned())
            })
        }

        fn get(&self, _: &Scope, _: &TurnId) -> ConnectorFuture<'_, Option<String>> {
            Box::pin(async { Ok(None) })
        }

        fn delete(&self, _: &Scope, turn: &TurnId) -> ConnectorFuture<'_, ()> {
            self.touched.lock().push(turn.to_string());
            Box::pin(async { Ok(()) })
        }

        fn name(&self) -> String {
            "busy".to_owned()
        }
    }

    fn opening_write(turn: &str, user: &str) -> Write {
        let opening = Opening { text: "What now?".into(), ..Opening::default() };
        let event = Event {
            kind: Kind { event_type: Type::Query, source: Source::Turn },
            user: UserId::new(user).ok(),
            conversation: model::ConversationId::new("c1").ok(),
            turn: TurnId::new(turn).ok(),
            body: Body::Turn(TurnHalf::Opened(opening)),
            ..testkit::event(&Scope::default(), &format!("open-{turn}"))
        };
        let change = testkit::opening_change();
        Write::new(testkit::redacted(event), vec![change])
    }

    #[tokio::test]
    async fn erasure_is_processed_before_the_copy_backlog_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, store, .. } = open_test_engine(folder.path()).await;
        let store: Arc<Store> = store;
        let others = (1..40).map(|n| opening_write(&format!("t{n:02}"), "bob"));
        let writes = std::iter::once(opening_write("t00", "ann")).chain(others).collect();
        store.commit(writes).await.unwrap();
        let busy = Arc::new(ErasingBlobs { store: Arc::clone(&store), touched: Mutex::default() });
        let place = Some(CopyPlace::Blobs(Arc::clone(&busy) as Arc<dyn BlobStore>));
        let mirror = engine.turns.log_copier(CopySettings { place, previous_places: Vec::new() });
        assert!(matches!(mirror.copy_batch().await.unwrap(), CopyStep::More));
        let touched = busy.touched.lock().clone();
        assert_eq!(touched.len(), 41, "{touched:?}");
        assert_eq!(
            touched.iter().rposition(|turn| turn == "t00"),
            Some(TURNS_PER_ERASURE_CHECK),
            "{touched:?}"
        );
        assert!(store.copies_due(None, 1).await.unwrap().is_empty());
    }
}
