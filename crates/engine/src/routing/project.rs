//! The routers of one project and their progress through the log.

use std::collections::BTreeMap;

use learn::{Routers, TurnRecord};
use model::{Position, TurnId, Type};
use parking_lot::{Mutex, RwLock};
use store::{
    CheckpointVersion, EventPage, KindFilter, RouterScope, Store, StoreError, StoredEvent,
};

use super::recent_choices::RecentChoices;
use crate::changes::LEARNABLE_SOURCES;

/// Events per read.
const PAGE_EVENTS: usize = 500;
/// Unsaved turn records that trigger a checkpoint.
const MAX_UNSAVED_TURNS: usize = 500;

#[derive(Debug)]
pub(crate) struct ProjectRouters {
    pub(super) router_scope: RouterScope,
    key: [u8; 32],
    // Every choice reads it, so it is never held across an await.
    pub(super) routers: RwLock<Routers>,
    pub(super) progress: tokio::sync::Mutex<LearningProgress>,
    recent: Mutex<RecentChoices>,
}

/// Progress of learning, and turn records that are not in a checkpoint yet.
#[derive(Debug, Default)]
pub(super) struct LearningProgress {
    /// The last event that routers have learnt from.
    pub(super) position: Position,
    /// The log is read up to here.
    pub(super) seen: Position,
    /// Changes since the last checkpoint: turn records, router state, and erasures.
    pub(super) unsaved: BTreeMap<TurnId, TurnRecord>,
    pub(super) changed: bool,
    pub(super) erased: bool,
    /// Records of the last checkpoint, as a cache: a turn often gets further events soon.
    pub(super) saved: BTreeMap<TurnId, TurnRecord>,
    /// The latest checkpoint that this state continues from or coexists with.
    pub(super) base: CheckpointVersion,
}

enum RecordError {
    Store(StoreError),
    /// The stored record of a turn is unreadable.
    Record(TurnId),
    /// This node must continue from another node's checkpoint.
    Superseded,
}

enum CatchUpError {
    Store(StoreError),
    Record(TurnId),
}

impl From<StoreError> for RecordError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<StoreError> for CatchUpError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl ProjectRouters {
    /// Loads the checkpoint and learns the rest of the log.
    pub(crate) async fn load(
        store: &Store,
        router_scope: RouterScope,
        key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let project = Self {
            router_scope,
            key,
            routers: RwLock::default(),
            progress: tokio::sync::Mutex::default(),
            recent: Mutex::default(),
        };
        let mut progress = project.progress.lock().await;
        project.load_checkpoint(store, &mut progress).await?;
        drop(progress);
        project.learn_up_to(store, store.head()).await?;
        Ok(project)
    }

    pub(super) fn event_page(&self, after: Position, limit: usize) -> EventPage {
        EventPage {
            scope: self.router_scope.scope.clone(),
            after,
            limit,
            any_of: learnable_kinds(),
        }
    }

    /// Learns from all events up to a position, and possibly later ones.
    pub(crate) async fn learn_up_to(
        &self,
        store: &Store,
        upto: Position,
    ) -> Result<(), StoreError> {
        let mut progress = self.progress.lock().await;
        if progress.seen >= upto {
            return Ok(());
        }
        match self.catch_up(store, &mut progress, upto).await {
            Ok(()) => Ok(()),
            Err(CatchUpError::Store(error)) => Err(error),
            Err(CatchUpError::Record(turn)) => {
                let why = format!("the record of turn {turn} is unreadable");
                let version = progress.base.version;
                self.discard_checkpoint(store, &mut progress, version, &why).await?;
                match self.catch_up(store, &mut progress, upto).await {
                    Ok(()) => Ok(()),
                    Err(CatchUpError::Store(error)) => Err(error),
                    Err(CatchUpError::Record(_)) => Err(StoreError::Corrupt(why)),
                }
            }
        }
    }

    async fn catch_up(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
        upto: Position,
    ) -> Result<(), CatchUpError> {
        // Entries read from the log may be ahead of this node's head.
        let head = store.head().max(upto);
        loop {
            let events = store.events(self.event_page(progress.position, PAGE_EVENTS)).await?;
            let last = events.last().map(|stored| stored.position);
            match self.learn_page(store, progress, events).await {
                Ok(true) => {}
                Ok(false) => {
                    self.load_checkpoint(store, progress).await?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            // A short page is not the end: pages are bounded by bytes, too.
            if last.is_none_or(|last| last >= head) {
                break;
            }
        }
        progress.seen = head;
        Ok(())
    }

    /// Learns from events in order. Returns `false` when this node must continue from another
    /// node's checkpoint.
    async fn learn_page(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
        events: Vec<StoredEvent>,
    ) -> Result<bool, CatchUpError> {
        for stored in events {
            match self.learn_event(store, progress, stored).await {
                Ok(()) => {}
                Err(RecordError::Superseded) => return Ok(false),
                Err(RecordError::Store(error)) => return Err(CatchUpError::Store(error)),
                Err(RecordError::Record(turn)) => return Err(CatchUpError::Record(turn)),
            }
        }
        if progress.unsaved.len() < MAX_UNSAVED_TURNS {
            return Ok(true);
        }
        Ok(self.try_save(store, progress).await?)
    }

    async fn learn_event(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
        stored: StoredEvent,
    ) -> Result<(), RecordError> {
        let turns = Routers::affected_turns(&stored.event);
        for turn in &turns {
            self.load_record(store, progress, turn).await?;
        }
        let pseudonym = |name: &str| self.pseudonym(name);
        let mut routers = self.routers.write();
        routers.apply_event(stored.position, &stored.event, &mut progress.unsaved, &pseudonym);
        progress.position = stored.position;
        progress.changed = true;
        Ok(())
    }

    /// Loads a turn's record into `unsaved`.
    async fn load_record(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
        turn: &TurnId,
    ) -> Result<(), RecordError> {
        if progress.unsaved.contains_key(turn) {
            return Ok(());
        }
        let record = match progress.saved.remove(turn) {
            Some(record) => record,
            None => {
                let (at, found) = store.router_turn(&self.router_scope.scope, turn).await?;
                if !progress.accept_base(at) {
                    return Err(RecordError::Superseded);
                }
                let Some(stored) = found else { return Ok(()) };
                let read = serde_json::from_str(&stored.record);
                let mut record: TurnRecord = read.map_err(|_| RecordError::Record(turn.clone()))?;
                record.restore_features(&stored.features);
                record
            }
        };
        progress.unsaved.insert(turn.clone(), record);
        Ok(())
    }

    pub(crate) async fn turn_record(
        &self,
        store: &Store,
        turn: &TurnId,
    ) -> Result<Option<TurnRecord>, StoreError> {
        let mut progress = self.progress.lock().await;
        self.ensure_record(store, &mut progress, turn).await?;
        Ok(progress.unsaved.get(turn).cloned())
    }

    /// Loads a turn's record into `unsaved`. An unreadable record is rebuilt by the next call that
    /// learns.
    pub(super) async fn ensure_record(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
        turn: &TurnId,
    ) -> Result<(), StoreError> {
        loop {
            match self.load_record(store, progress, turn).await {
                Ok(()) => return Ok(()),
                Err(RecordError::Store(error)) => return Err(error),
                Err(RecordError::Superseded) => self.load_checkpoint(store, progress).await?,
                Err(RecordError::Record(turn)) => {
                    tracing::warn!(%turn, "the stored record of a turn is unreadable");
                    return Ok(());
                }
            }
        }
    }

    pub(crate) async fn position(&self) -> Position {
        self.progress.lock().await.position
    }

    pub(crate) fn read_routers<T>(&self, look: impl FnOnce(&Routers) -> T) -> T {
        look(&self.routers.read())
    }

    pub(super) fn recent_choices(&self) -> parking_lot::MutexGuard<'_, RecentChoices> {
        self.recent.lock()
    }

    /// A stable pseudonym of a name, keyed with the store's secret.
    pub(super) fn pseudonym(&self, name: &str) -> u64 {
        let hash = blake3::keyed_hash(&self.key, name.as_bytes());
        hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

fn learnable_kinds() -> Vec<KindFilter> {
    let from_source = |source| KindFilter { types: Vec::new(), source: Some(source) };
    let interactions = KindFilter { types: vec![Type::Interaction], source: None };
    LEARNABLE_SOURCES.map(from_source).into_iter().chain([interactions]).collect()
}
