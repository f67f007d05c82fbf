//! The routers of one project.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError, RwLock};

use event::{Event, Position, RouterChoice, Source, Timestamp, TurnId, Type, UserId};
use learn::{Router, RouterDefinition, RouterRule, RouterState, Routers, TurnRecord};
use store::{
    EventPage, KindFilter, RouterCheckpoint, RouterScope, RouterTurn, Store, StoreError,
    StoredEvent, StoredRouter,
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
    with: RouterScope,
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

/// Why it was not possible to learn.
enum Trouble {
    /// The store did not answer.
    Store(StoreError),
    /// What is kept of a turn cannot be read.
    Record(TurnId),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Project {
    /// As it was kept, brought up to date.
    pub(crate) async fn load(
        store: &dyn Store,
        with: RouterScope,
        key: [u8; 32],
    ) -> Result<Self, StoreError> {
        let kept = store.router_checkpoint(&with.scope).await?;
        let project = Self {
            with,
            key,
            routers: RwLock::default(),
            progress: tokio::sync::Mutex::default(),
            recent: Mutex::default(),
        };
        let mut progress = project.progress.lock().await;
        match kept.as_ref().map(|kept| (kept.position, restored(kept))) {
            Some((position, Ok(routers))) => {
                progress.position = position;
                *project.routers.write().unwrap_or_else(PoisonError::into_inner) = routers;
            }
            Some((_, Err(why))) => project.start_over(store, &mut progress, &why).await?,
            None => project.start_over(store, &mut progress, "nothing is kept yet").await?,
        }
        drop(progress);
        project.reach(store, store.head()).await?;
        Ok(project)
    }

    /// Forgets everything that is kept, and begins where the first router was set.
    async fn start_over(
        &self,
        store: &dyn Store,
        progress: &mut Progress,
        why: &str,
    ) -> Result<(), StoreError> {
        let scope = &self.with.scope;
        tracing::info!(tenant = %scope.tenant, project = %scope.project, why, "learning from the log");
        store.forget_routers(scope).await?;
        let before = Position(self.with.since.0.saturating_sub(1));
        *progress = Progress { position: before, changed: true, ..Progress::default() };
        let mut routers = Routers::default();
        let first = store.events(self.page(before, 1)).await?;
        if first.first().is_none_or(|stored| stored.position != self.with.since) {
            // Their settings were dropped from the log when they were old.
            for (name, definition) in &self.with.definitions {
                if let Ok(definition) = serde_json::from_str(definition) {
                    routers.define(name, &definition);
                }
            }
        }
        *self.routers.write().unwrap_or_else(PoisonError::into_inner) = routers;
        Ok(())
    }

    fn page(&self, after: Position, limit: usize) -> EventPage {
        EventPage { scope: self.with.scope.clone(), after, limit, any_of: kinds() }
    }

    /// Learns from everything that was stored up to a position, and perhaps more.
    pub(crate) async fn reach(&self, store: &dyn Store, upto: Position) -> Result<(), StoreError> {
        let mut progress = self.progress.lock().await;
        if progress.seen >= upto {
            return Ok(());
        }
        match self.catch_up(store, &mut progress, upto).await {
            Ok(()) => Ok(()),
            Err(Trouble::Store(error)) => Err(error),
            Err(Trouble::Record(turn)) => {
                let why = format!("what was kept of turn {turn} cannot be read");
                self.start_over(store, &mut progress, &why).await?;
                match self.catch_up(store, &mut progress, upto).await {
                    Ok(()) => Ok(()),
                    Err(Trouble::Store(error)) => Err(error),
                    Err(Trouble::Record(_)) => Err(StoreError::Corrupt(why)),
                }
            }
        }
    }

    async fn catch_up(
        &self,
        store: &dyn Store,
        progress: &mut Progress,
        upto: Position,
    ) -> Result<(), Trouble> {
        let head = store.head();
        loop {
            let events = store.events(self.page(progress.position, PAGE)).await?;
            let last = events.last().map(|stored| stored.position);
            for stored in events {
                self.learn(store, progress, stored).await?;
            }
            if progress.waiting.len() >= MOST_WAITING {
                self.keep_now(store, progress).await?;
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
    ) -> Result<(), Trouble> {
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
    ) -> Result<(), Trouble> {
        if progress.waiting.contains_key(turn) {
            return Ok(());
        }
        let record = match progress.kept.remove(turn) {
            Some(record) => record,
            None => match store.router_turn(&self.with.scope, turn).await? {
                None => return Ok(()),
                Some((text, features)) => {
                    let read = serde_json::from_str(&text);
                    let mut record: TurnRecord = read.map_err(|_| Trouble::Record(turn.clone()))?;
                    record.put_features(&features);
                    record
                }
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
            features: record.feature_bytes(),
        };
        let turns = progress.waiting.iter().map(turn).collect();
        let checkpoint = RouterCheckpoint { position, routers };
        store.save_routers(&self.with.scope, checkpoint, turns).await?;
        progress.kept = std::mem::take(&mut progress.waiting);
        progress.changed = false;
        Ok(())
    }

    /// Somebody is erased: the features of their own turns go, from what regressions learnt as well,
    /// and what they rated was rated by nobody in particular.
    pub(crate) async fn forget(
        &self,
        store: &dyn Store,
        user: &UserId,
        own: &[TurnId],
        touched: &[TurnId],
        now: &Event,
    ) -> Result<(), StoreError> {
        let user = self.pseudonym(user.as_str());
        let mut progress = self.progress.lock().await;
        for turn in own.iter().chain(touched) {
            self.fetch_or_warn(store, &mut progress, turn).await?;
        }
        self.forget_in(&mut progress, user, own, touched, now);
        self.keep_now(store, &mut progress).await
    }

    /// The same for turns of theirs that came in while they were erased, and are in memory only.
    pub(crate) async fn forget_late(
        &self,
        store: &dyn Store,
        user: &UserId,
        now: &Event,
    ) -> Result<(), StoreError> {
        let user = self.pseudonym(user.as_str());
        let mut progress = self.progress.lock().await;
        let Progress { waiting, kept, .. } = &*progress;
        let known = waiting.iter().chain(kept);
        let with_features = known.filter(|(_, record)| !record.feature_bytes().is_empty());
        let turns: Vec<TurnId> = with_features.map(|(turn, _)| turn.clone()).collect();
        let mut late = Vec::new();
        for turn in turns {
            let head = store.turn_head(&self.with.scope, &turn).await?;
            if head.is_some_and(|head| head.erased) {
                self.fetch_or_warn(store, &mut progress, &turn).await?;
                late.push(turn);
            }
        }
        self.forget_in(&mut progress, user, &late, &late, now);
        self.keep_now(store, &mut progress).await
    }

    fn forget_in(
        &self,
        progress: &mut Progress,
        user: u64,
        own: &[TurnId],
        touched: &[TurnId],
        now: &Event,
    ) {
        let mut routers = self.routers.write().unwrap_or_else(PoisonError::into_inner);
        for turn in touched {
            routers.anonymise(now, turn, user, &mut progress.waiting);
        }
        for turn in own {
            if let Some(record) = progress.waiting.get_mut(turn) {
                routers.forget(record);
            }
        }
        progress.changed = true;
        let mut recent = self.recent();
        own.iter().for_each(|turn| _ = recent.by_turn.remove(turn));
    }

    /// What is known of a turn by now.
    pub(crate) async fn record(
        &self,
        store: &dyn Store,
        turn: &TurnId,
    ) -> Result<Option<TurnRecord>, StoreError> {
        let mut progress = self.progress.lock().await;
        self.fetch_or_warn(store, &mut progress, turn).await?;
        Ok(progress.waiting.get(turn).cloned())
    }

    /// What cannot be read is made again by whoever learns next.
    async fn fetch_or_warn(
        &self,
        store: &dyn Store,
        progress: &mut Progress,
        turn: &TurnId,
    ) -> Result<(), StoreError> {
        match self.fetch(store, progress, turn).await {
            Ok(()) => Ok(()),
            Err(Trouble::Store(error)) => Err(error),
            Err(Trouble::Record(turn)) => {
                tracing::warn!(%turn, "what is kept of a turn cannot be read");
                Ok(())
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
        let mut recent = self.recent();
        let first = turn.and_then(|turn| recent.by_turn.get(turn));
        if let Some(first) = first.filter(|first| may_stand(first)) {
            return Some(first.clone());
        }
        *recent.made.entry(choice.router.clone()).or_default() += 1;
        let turn = turn?;
        if recent.by_turn.insert(turn.clone(), choice.clone()).is_none() {
            recent.order.push_back(turn.clone());
        }
        if recent.order.len() > MOST_RECENT
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.by_turn.remove(&oldest);
        }
        None
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
