//! The routers of one project.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, RwLock};

use learn::{Routers, TurnRecord};
use model::{Event, Position, RouterChoice, Source, TurnId, Type};
use store::{EventPage, KeptAt, KindFilter, RouterScope, Store, StoreError, StoredEvent};

use super::recent_choices::RecentChoices;

/// Events that are read at once.
const PAGE_EVENTS: usize = 500;
/// Turns that may wait to be kept.
const MAX_UNSAVED_TURNS: usize = 500;

/// Routers, how far they have read, and what they know of turns.
#[derive(Debug)]
pub(crate) struct ProjectRouters {
    pub(super) router_scope: RouterScope,
    key: [u8; 32],
    // Read by every choice, so it is never held while something else is waited for.
    pub(super) routers: RwLock<Routers>,
    pub(super) progress: tokio::sync::Mutex<LearningProgress>,
    recent: Mutex<RecentChoices>,
}

/// How far they are.
#[derive(Debug, Default)]
pub(super) struct LearningProgress {
    /// The last event that was learnt from.
    pub(super) position: Position,
    /// Everything up to here was looked at.
    pub(super) seen: Position,
    /// What changed since it was last kept: records of turns, whether routers did, and whether
    /// something was taken out of them.
    pub(super) unsaved: BTreeMap<TurnId, TurnRecord>,
    pub(super) changed: bool,
    pub(super) erased: bool,
    /// What was kept last; a turn is usually spoken of again soon.
    pub(super) saved: BTreeMap<TurnId, TurnRecord>,
    /// The latest state in the store that this goes on from, or beside.
    pub(super) base: KeptAt,
}

/// Why it was not possible to learn.
enum RecordError {
    /// The store did not answer.
    Store(StoreError),
    /// What is kept of a turn cannot be read.
    Record(TurnId),
    /// Another node kept a state that this one must go on from.
    Superseded,
}

/// Why it was not possible to learn at all.
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
    /// As it was kept, brought up to date.
    pub(crate) async fn load(
        store: &Store,
        with: RouterScope,
        key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let project = Self {
            router_scope: with,
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

    /// Learns from everything that was stored up to a position, and perhaps more.
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
                let why = format!("what was kept of turn {turn} cannot be read");
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
        // What was read from the log may be further on than the store has heard.
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
            // A page can also end early because its events are long.
            if last.is_none_or(|last| last >= head) {
                break;
            }
        }
        progress.seen = head;
        Ok(())
    }

    /// Learns from events, one after the other. Not if another node kept a state to go on from instead.
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
        let turns = Routers::turns_of(&stored.event);
        for turn in &turns {
            self.load_record(store, progress, turn).await?;
        }
        let pseudonym = |name: &str| self.pseudonym(name);
        let mut routers = self.routers.write().unwrap_or_else(PoisonError::into_inner);
        routers.apply(stored.position, &stored.event, &mut progress.unsaved, &pseudonym);
        progress.position = stored.position;
        progress.changed = true;
        Ok(())
    }

    /// Has what is known of a turn at hand.
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
                let Some((text, features)) = found else { return Ok(()) };
                let read = serde_json::from_str(&text);
                let mut record: TurnRecord = read.map_err(|_| RecordError::Record(turn.clone()))?;
                record.put_features(&features);
                record
            }
        };
        progress.unsaved.insert(turn.clone(), record);
        Ok(())
    }

    /// What is known of a turn by now.
    pub(crate) async fn turn_record(
        &self,
        store: &Store,
        turn: &TurnId,
    ) -> Result<Option<TurnRecord>, StoreError> {
        let mut progress = self.progress.lock().await;
        self.ensure_record(store, &mut progress, turn).await?;
        Ok(progress.unsaved.get(turn).cloned())
    }

    /// Has what is known of a turn at hand. What cannot be read is made again by whoever learns next.
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
                    tracing::warn!(%turn, "what is kept of a turn cannot be read");
                    return Ok(());
                }
            }
        }
    }

    /// How far it has read.
    pub(crate) async fn position(&self) -> Position {
        self.progress.lock().await.position
    }

    /// Looks at the routers.
    pub(crate) fn read_routers<T>(&self, look: impl FnOnce(&Routers) -> T) -> T {
        look(&self.routers.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Remembers a choice, unless another one was first for the turn and may stand: then answers that.
    pub(crate) fn remember_choice(
        &self,
        turn: Option<&TurnId>,
        choice: &RouterChoice,
        may_stand: impl Fn(&RouterChoice) -> bool,
    ) -> Option<RouterChoice> {
        self.recent_choices().remember_choice(turn, choice, may_stand)
    }

    /// The choice that was made for a turn, if it is remembered.
    pub(crate) fn find_choice(&self, turn: &TurnId) -> Option<RouterChoice> {
        self.recent_choices().find_choice(turn)
    }

    /// How many choices a router has made, of which `known` are in the log.
    pub(crate) fn count_choices(&self, router: &str, known: u64) -> u64 {
        self.recent_choices().count_choices(router, known)
    }

    pub(super) fn recent_choices(&self) -> std::sync::MutexGuard<'_, RecentChoices> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a name, the same at every start and of no use without the store's key.
    pub(super) fn pseudonym(&self, name: &str) -> u64 {
        let hash = blake3::keyed_hash(&self.key, name.as_bytes());
        hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// Whether a router can learn from such an event.
pub(crate) fn is_learnable(event: &Event) -> bool {
    learnable_kinds().iter().any(|kind| {
        kind.source.is_none_or(|source| source == event.kind.source)
            && (kind.types.is_empty() || kind.types.contains(&event.kind.event_type))
    })
}

fn learnable_kinds() -> Vec<KindFilter> {
    let by = |source| KindFilter { types: Vec::new(), source: Some(source) };
    let of = |kind| KindFilter { types: vec![kind], source: None };
    vec![
        by(Source::Engine),
        by(Source::Reaction),
        by(Source::UserRating),
        by(Source::UserCorrection),
        by(Source::UserInteraction),
        of(Type::Interaction),
    ]
}
