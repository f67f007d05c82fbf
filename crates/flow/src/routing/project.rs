//! The routers of one project.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError, RwLock};

use event::{Event, Position, RouterChoice, Scope, Source, Timestamp, TurnId, Type};
use learn::{Router, RouterDefinition, RouterRule, RouterState, Routers, TurnRecord};
use store::{
    EventPage, KindFilter, RouterCheckpoint, RouterTurn, Store, StoreError, StoredEvent,
    StoredRouter,
};

/// Events that are read at once.
const PAGE: usize = 500;
/// Turns that may wait to be kept.
const MOST_WAITING: usize = 500;
/// Choices that are remembered for turns that do not say which choice they follow.
const MOST_RECENT: usize = 10_000;

/// Routers, how far they have read, and what they know of turns.
#[derive(Debug)]
pub(crate) struct Project {
    scope: Scope,
    key: [u8; 32],
    // Read by every choice, so it is never held while something else is waited for.
    routers: RwLock<Routers>,
    progress: tokio::sync::Mutex<Progress>,
    recent: Mutex<Recent>,
}

#[derive(Debug, Default)]
struct Progress {
    /// The last event that was learnt from.
    position: Position,
    /// Everything up to here was looked at.
    seen: Position,
    /// What changed since it was last kept: records of turns, and whether routers did.
    waiting: BTreeMap<TurnId, TurnRecord>,
    changed: bool,
    /// What was kept last; a turn is usually spoken of again soon.
    kept: BTreeMap<TurnId, TurnRecord>,
}

/// The latest choices by turn, and how many were made by each router.
#[derive(Debug, Default)]
struct Recent {
    by_turn: HashMap<TurnId, RouterChoice>,
    order: VecDeque<TurnId>,
    made: HashMap<String, u64>,
}

impl Project {
    /// As it was kept, brought up to date.
    pub(crate) async fn load(
        store: &dyn Store,
        scope: Scope,
        since: Position,
        key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let mut routers = Routers::default();
        let before = Position(since.0.saturating_sub(1));
        let mut progress = Progress { position: before, ..Progress::default() };
        if let Some(kept) = store.router_checkpoint(&scope).await? {
            match restored(&kept) {
                Ok(restored) => {
                    routers = restored;
                    progress.position = kept.position;
                }
                Err(why) => {
                    tracing::warn!(
                        ?scope,
                        why,
                        "what routers had learnt cannot be read; learning again"
                    );
                    store.forget_routers(&scope).await?;
                }
            }
        }
        let project = Self {
            scope,
            key,
            routers: RwLock::new(routers),
            progress: tokio::sync::Mutex::new(progress),
            recent: Mutex::default(),
        };
        project.reach(store, store.head()).await?;
        Ok(project)
    }

    /// Learns from everything that was stored up to a position, and perhaps more.
    pub(crate) async fn reach(&self, store: &dyn Store, upto: Position) -> Result<(), StoreError> {
        let mut progress = self.progress.lock().await;
        if progress.seen >= upto {
            return Ok(());
        }
        let head = store.head();
        loop {
            let page = EventPage {
                scope: self.scope.clone(),
                after: progress.position,
                limit: PAGE,
                any_of: kinds(),
            };
            let events = store.events(page).await?;
            let last = events.last().map(|stored| stored.position);
            for stored in events {
                self.learn(store, &mut progress, stored).await?;
            }
            if progress.waiting.len() >= MOST_WAITING {
                self.keep_now(store, &mut progress).await?;
            }
            // A page can also end early because its events are long.
            if last.is_none_or(|last| last >= head) {
                break;
            }
        }
        progress.seen = head.max(upto);
        Ok(())
    }

    async fn learn(
        &self,
        store: &dyn Store,
        progress: &mut Progress,
        stored: StoredEvent,
    ) -> Result<(), StoreError> {
        let turns = Routers::turns_of(&stored.event);
        for turn in &turns {
            self.fetch(store, progress, turn).await?;
        }
        let pseudonym = |name: &str| self.pseudonym(name);
        let mut routers = self.routers.write().unwrap_or_else(PoisonError::into_inner);
        routers.apply(stored.position, &stored.event, &mut progress.waiting, &pseudonym);
        progress.position = stored.position;
        progress.changed = true;
        Ok(())
    }

    /// Has what is known of a turn at hand.
    async fn fetch(
        &self,
        store: &dyn Store,
        progress: &mut Progress,
        turn: &TurnId,
    ) -> Result<(), StoreError> {
        if progress.waiting.contains_key(turn) {
            return Ok(());
        }
        let record = match progress.kept.remove(turn) {
            Some(record) => record,
            None => match store.router_turn(&self.scope, turn).await? {
                None => return Ok(()),
                Some(text) => serde_json::from_str(&text).map_err(|_| {
                    StoreError::Corrupt(format!("what is known of turn {turn} cannot be read"))
                })?,
            },
        };
        progress.waiting.insert(turn.clone(), record);
        Ok(())
    }

    /// Keeps what was learnt since the last time.
    pub(crate) async fn keep(&self, store: &dyn Store) -> Result<(), StoreError> {
        let mut progress = self.progress.lock().await;
        self.keep_now(store, &mut progress).await
    }

    async fn keep_now(&self, store: &dyn Store, progress: &mut Progress) -> Result<(), StoreError> {
        if !progress.changed {
            return Ok(());
        }
        let position = progress.position;
        let routers = self.with(|routers| {
            let stored = |(name, router): (&str, &Router)| StoredRouter {
                name: name.to_owned(),
                definition: serde_json::json!(router.rule.definition()).to_string(),
                state: router.state.to_bytes(position.0),
            };
            routers.iter().map(stored).collect()
        });
        let turn = |(turn, record): (&TurnId, &TurnRecord)| RouterTurn {
            turn: turn.clone(),
            router: record.served.as_ref().map(|served| served.router.clone()),
            ts: record.served.as_ref().map_or(Timestamp::from_micros(0), |served| served.ts),
            record: serde_json::json!(record).to_string(),
        };
        let turns = progress.waiting.iter().map(turn).collect();
        let checkpoint = RouterCheckpoint { position, routers };
        store.save_routers(&self.scope, checkpoint, turns).await?;
        progress.kept = std::mem::take(&mut progress.waiting);
        progress.changed = false;
        Ok(())
    }

    /// Unlearns the features of turns whose user is erased, and keeps no trace of them.
    pub(crate) async fn forget(
        &self,
        store: &dyn Store,
        turns: &[TurnId],
    ) -> Result<(), StoreError> {
        let mut progress = self.progress.lock().await;
        for turn in turns {
            self.fetch(store, &mut progress, turn).await?;
            if let Some(record) = progress.waiting.get_mut(turn) {
                self.routers.write().unwrap_or_else(PoisonError::into_inner).forget(record);
                progress.changed = true;
            }
            self.recent().by_turn.remove(turn);
        }
        self.keep_now(store, &mut progress).await?;
        progress.kept.clear();
        Ok(())
    }

    /// What is known of a turn by now.
    pub(crate) async fn record(
        &self,
        store: &dyn Store,
        turn: &TurnId,
    ) -> Result<Option<TurnRecord>, StoreError> {
        let mut progress = self.progress.lock().await;
        self.fetch(store, &mut progress, turn).await?;
        Ok(progress.waiting.get(turn).cloned())
    }

    /// How far it has read.
    pub(crate) async fn position(&self) -> Position {
        self.progress.lock().await.position
    }

    /// Looks at the routers.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&Routers) -> T) -> T {
        look(&self.routers.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Remembers a choice.
    pub(crate) fn remember(&self, turn: Option<&TurnId>, choice: &RouterChoice) {
        let mut recent = self.recent();
        *recent.made.entry(choice.router.clone()).or_default() += 1;
        let Some(turn) = turn else { return };
        if recent.by_turn.insert(turn.clone(), choice.clone()).is_none() {
            recent.order.push_back(turn.clone());
        }
        if recent.order.len() > MOST_RECENT
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.by_turn.remove(&oldest);
        }
    }

    /// The choice that was made for a turn, if it is remembered.
    pub(crate) fn choice_of(&self, turn: &TurnId) -> Option<RouterChoice> {
        self.recent().by_turn.get(turn).cloned()
    }

    /// How many choices a router has made since the start.
    pub(crate) fn made(&self, router: &str) -> u64 {
        self.recent().made.get(router).copied().unwrap_or(0)
    }

    fn recent(&self) -> std::sync::MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a name, the same at every start and of no use without the store's key.
    fn pseudonym(&self, name: &str) -> u64 {
        let hash = blake3::keyed_hash(&self.key, name.as_bytes());
        hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// Whether a router can learn from such an event.
pub(crate) fn concerns_routers(event: &Event) -> bool {
    kinds().iter().any(|kind| {
        kind.source.is_none_or(|source| source == event.kind.source)
            && (kind.types.is_empty() || kind.types.contains(&event.kind.event_type))
    })
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

fn restored(kept: &RouterCheckpoint) -> Result<Routers, String> {
    let mut routers = Routers::default();
    for stored in &kept.routers {
        let wrong = |what: &dyn std::fmt::Display| format!("router {}: {what}", stored.name);
        let written: RouterDefinition =
            serde_json::from_str(&stored.definition).map_err(|error| wrong(&error))?;
        let rule = RouterRule::new(written).map_err(|error| wrong(&error))?;
        let (state, position) =
            RouterState::from_bytes(&stored.state).map_err(|error| wrong(&error))?;
        if position != kept.position.0 {
            return Err(wrong(&"kept at another position"));
        }
        routers.restore(stored.name.clone(), Router { rule, state });
    }
    Ok(routers)
}
