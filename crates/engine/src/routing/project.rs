//! The routers of one project.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, RwLock};

use learn::{Routers, TurnRecord};
use model::{Position, RouterChoice, Source, TurnId, Type};
use store::{
    CheckpointVersion, EventPage, KindFilter, RouterScope, Store, StoreError, StoredEvent,
};

use super::recent::Recent;

/// Events that are read at once.
const PAGE: usize = 500;
/// Turns that may wait to be kept.
const MOST_WAITING: usize = 500;

/// Routers, how far they have read, and what they know of turns.
#[derive(Debug)]
pub(crate) struct Project {
    pub(super) with: RouterScope,
    key: [u8; 32],
    // Read by every choice, so it is never held while something else is waited for.
    pub(super) routers: RwLock<Routers>,
    pub(super) progress: tokio::sync::Mutex<Progress>,
    recent: Mutex<Recent>,
}

/// How far they are.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The last event that was learnt from.
    pub(super) position: Position,
    /// Everything up to here was looked at.
    pub(super) seen: Position,
    /// What changed since it was last kept: records of turns, whether routers did, and whether
    /// something was taken out of them.
    pub(super) waiting: BTreeMap<TurnId, TurnRecord>,
    pub(super) changed: bool,
    pub(super) forgot: bool,
    /// What was kept last; a turn is usually spoken of again soon.
    pub(super) kept: BTreeMap<TurnId, TurnRecord>,
    /// The latest state in the store that this goes on from, or beside.
    pub(super) from: CheckpointVersion,
}

/// Why it was not possible to learn.
enum Trouble {
    /// The store did not answer.
    Store(StoreError),
    /// What is kept of a turn cannot be read.
    Record(TurnId),
    /// Another node kept a state that this one must go on from.
    Moved,
}

/// Why it was not possible to learn at all.
enum Unlearnt {
    Store(StoreError),
    Record(TurnId),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<StoreError> for Unlearnt {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Project {
    /// As it was kept, brought up to date.
    pub(crate) async fn load(
        store: &Store,
        with: RouterScope,
        key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let project = Self {
            with,
            key,
            routers: RwLock::default(),
            progress: tokio::sync::Mutex::default(),
            recent: Mutex::default(),
        };
        let mut progress = project.progress.lock().await;
        project.take_up(store, &mut progress).await?;
        drop(progress);
        project.reach(store, store.head()).await?;
        Ok(project)
    }

    pub(super) fn page(&self, after: Position, limit: usize) -> EventPage {
        EventPage { scope: self.with.scope.clone(), after, limit, any_of: kinds() }
    }

    /// Learns from everything that was stored up to a position, and perhaps more.
    pub(crate) async fn reach(&self, store: &Store, upto: Position) -> Result<(), StoreError> {
        let mut progress = self.progress.lock().await;
        if progress.seen >= upto {
            return Ok(());
        }
        match self.catch_up(store, &mut progress, upto).await {
            Ok(()) => Ok(()),
            Err(Unlearnt::Store(error)) => Err(error),
            Err(Unlearnt::Record(turn)) => {
                let why = format!("what was kept of turn {turn} cannot be read");
                let version = progress.from.version;
                self.drop_kept(store, &mut progress, version, &why).await?;
                match self.catch_up(store, &mut progress, upto).await {
                    Ok(()) => Ok(()),
                    Err(Unlearnt::Store(error)) => Err(error),
                    Err(Unlearnt::Record(_)) => Err(StoreError::Corrupt(why)),
                }
            }
        }
    }

    async fn catch_up(
        &self,
        store: &Store,
        progress: &mut Progress,
        upto: Position,
    ) -> Result<(), Unlearnt> {
        // What was read from the log may be further on than the store has heard.
        let head = store.head().max(upto);
        loop {
            let events = store.events(self.page(progress.position, PAGE)).await?;
            let last = events.last().map(|stored| stored.position);
            match self.learn_page(store, progress, events).await {
                Ok(true) => {}
                Ok(false) => {
                    self.take_up(store, progress).await?;
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
        progress: &mut Progress,
        events: Vec<StoredEvent>,
    ) -> Result<bool, Unlearnt> {
        for stored in events {
            match self.learn(store, progress, stored).await {
                Ok(()) => {}
                Err(Trouble::Moved) => return Ok(false),
                Err(Trouble::Store(error)) => return Err(Unlearnt::Store(error)),
                Err(Trouble::Record(turn)) => return Err(Unlearnt::Record(turn)),
            }
        }
        if progress.waiting.len() < MOST_WAITING {
            return Ok(true);
        }
        Ok(self.keep_now(store, progress).await?)
    }

    async fn learn(
        &self,
        store: &Store,
        progress: &mut Progress,
        stored: StoredEvent,
    ) -> Result<(), Trouble> {
        let turns = Routers::affected_turns(&stored.event);
        for turn in &turns {
            self.fetch(store, progress, turn).await?;
        }
        let pseudonym = |name: &str| self.pseudonym(name);
        let mut routers = self.routers.write().unwrap_or_else(PoisonError::into_inner);
        routers.apply_event(stored.position, &stored.event, &mut progress.waiting, &pseudonym);
        progress.position = stored.position;
        progress.changed = true;
        Ok(())
    }

    /// Has what is known of a turn at hand.
    async fn fetch(
        &self,
        store: &Store,
        progress: &mut Progress,
        turn: &TurnId,
    ) -> Result<(), Trouble> {
        if progress.waiting.contains_key(turn) {
            return Ok(());
        }
        let record = match progress.kept.remove(turn) {
            Some(record) => record,
            None => {
                let (at, found) = store.router_turn(&self.with.scope, turn).await?;
                if !progress.passes(at) {
                    return Err(Trouble::Moved);
                }
                let Some((text, features)) = found else { return Ok(()) };
                let read = serde_json::from_str(&text);
                let mut record: TurnRecord = read.map_err(|_| Trouble::Record(turn.clone()))?;
                record.restore_features(&features);
                record
            }
        };
        progress.waiting.insert(turn.clone(), record);
        Ok(())
    }

    /// What is known of a turn by now.
    pub(crate) async fn record(
        &self,
        store: &Store,
        turn: &TurnId,
    ) -> Result<Option<TurnRecord>, StoreError> {
        let mut progress = self.progress.lock().await;
        self.have(store, &mut progress, turn).await?;
        Ok(progress.waiting.get(turn).cloned())
    }

    /// Has what is known of a turn at hand. What cannot be read is made again by whoever learns next.
    pub(super) async fn have(
        &self,
        store: &Store,
        progress: &mut Progress,
        turn: &TurnId,
    ) -> Result<(), StoreError> {
        loop {
            match self.fetch(store, progress, turn).await {
                Ok(()) => return Ok(()),
                Err(Trouble::Store(error)) => return Err(error),
                Err(Trouble::Moved) => self.take_up(store, progress).await?,
                Err(Trouble::Record(turn)) => {
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
    pub(crate) fn with<T>(&self, look: impl FnOnce(&Routers) -> T) -> T {
        look(&self.routers.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Remembers a choice, unless another one was first for the turn and may stand: then answers that.
    pub(crate) fn remember(
        &self,
        turn: Option<&TurnId>,
        choice: &RouterChoice,
        may_stand: impl Fn(&RouterChoice) -> bool,
    ) -> Option<RouterChoice> {
        self.recent().remember(turn, choice, may_stand)
    }

    /// The choice that was made for a turn, if it is remembered.
    pub(crate) fn choice_of(&self, turn: &TurnId) -> Option<RouterChoice> {
        self.recent().choice_of(turn)
    }

    /// How many choices a router has made, of which `known` are in the log.
    pub(crate) fn made(&self, router: &str, known: u64) -> u64 {
        self.recent().made(router, known)
    }

    pub(super) fn recent(&self) -> std::sync::MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a name, the same at every start and of no use without the store's key.
    pub(super) fn pseudonym(&self, name: &str) -> u64 {
        let hash = blake3::keyed_hash(&self.key, name.as_bytes());
        hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

fn kinds() -> Vec<KindFilter> {
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
