//! Hears of what other nodes write, where several share a store: what this one keeps in memory to answer
//! quickly is read again when the log says that it changed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::{Change, Event, Position, Scope};
use store::StoredEvent;
use tokio::sync::Notify;

use crate::calibrate::Curves;
use crate::changes::changes_of;
use crate::ended_visits::EndedVisits;
use crate::engine::Engine;
use crate::erase::is_erasure;
use crate::error::FlowError;
use crate::history::is_forgetting;
use crate::key_ring::KeyRing;
use crate::put_off::put_off;
use crate::redactors::Redactors;
use crate::routing::concerns_routers;
use crate::targets::AllTargets;
use crate::tasks::Stop;

/// Events that are read at once.
const PAGE: usize = 1_000;
/// Keys are in no log; a key that another node made or revoked is heard of within this.
const KEYS_EVERY: Duration = Duration::from_secs(1);
/// After trouble.
const AGAIN: Duration = Duration::from_millis(500);

/// What has to be read again.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changed {
    privacy: bool,
    targets: bool,
    curves: bool,
    erased: bool,
}

impl Engine {
    /// Keeps up with other nodes, if there can be any.
    pub fn keep_following(self: &Arc<Self>) {
        if self.store.is_shared() {
            let to_learn = Arc::new(ToLearn::default());
            let (engine, noted) = (Arc::clone(self), Arc::clone(&to_learn));
            self.tasks.start(|stop| follow_on(engine, noted, stop));
            // Apart from each other: a rule or a key must not wait until routers have learnt.
            let engine = Arc::clone(self);
            self.tasks.start(|stop| learn_on(engine, to_learn, stop));
            let engine = Arc::clone(self);
            self.tasks.start(|stop| look_at_keys(engine, stop));
        }
    }

    /// Hears which keys others made or revoked, and which visits they ended.
    pub(crate) async fn hear_of_keys(&self) {
        match KeyRing::load(&*self.store).await {
            Ok(ring) => {
                if self.keys.take_over(ring) {
                    self.ended_visits.wake();
                }
            }
            Err(error) => put_off(error, "keys of other nodes are heard of later"),
        }
        match EndedVisits::load(&*self.store).await {
            Ok(ended) => self.ended_visits.take_over(ended, self.clock.now()),
            Err(error) => put_off(error, "visits ended at other nodes are heard of later"),
        }
    }

    /// Hears everything behind a position. Answers how far that is.
    async fn catch_up(&self, after: &mut Position, to_learn: &ToLearn) -> Result<(), FlowError> {
        loop {
            let page = self.store.tail(*after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            let last = last.position;
            let (mut changed, mut scopes) = (Changed::default(), HashSet::new());
            let (mut routed, mut erasures) = (HashMap::new(), Vec::new());
            for stored in &page {
                let StoredEvent { event, .. } = stored;
                let changes = changes_of(event);
                changes.iter().for_each(|change| changed.note(change));
                let sets = |change: &Change| matches!(change, Change::SetRouter { .. });
                let learns = concerns_routers(event) && self.routing.of(&event.scope).is_some();
                if learns || changes.iter().any(sets) {
                    routed.insert(event.scope.clone(), last);
                }
                if is_erasure(event) {
                    erasures.push(event.clone());
                }
                if !scopes.contains(&stored.event.scope) {
                    scopes.insert(stored.event.scope.clone());
                }
            }
            changed.erased = !erasures.is_empty();
            self.read_again(&changed).await?;
            for StoredEvent { event, .. } in &page {
                if is_forgetting(event) {
                    self.history.forget_before(event).await?;
                }
            }
            to_learn.note(Noted { scopes: routed, erasures });
            scopes.iter().for_each(|scope| self.labels.note(scope));
            self.for_targets.note(scopes.clone());
            self.for_experiments.note(scopes);
            *after = last;
        }
    }

    async fn read_again(&self, changed: &Changed) -> Result<(), FlowError> {
        if changed.privacy {
            self.privacy.take_over(Redactors::load(&*self.store).await?);
        }
        if changed.targets {
            self.targets.take_over(AllTargets::load(&*self.store).await?);
            self.for_targets.note(self.store.scopes().await?.into_iter().collect());
        }
        if changed.curves {
            self.curves.take_over(Curves::load(&*self.store).await?);
        }
        if changed.erased {
            self.patterns.clear();
            self.drafts.clear();
            self.examples.clear();
            let (now, window) = (self.clock.now(), self.detectors.retry.window);
            self.history.read_again(&*self.store, now, window).await?;
        }
        Ok(())
    }

    /// Routers learn from what others wrote. Answers what they could not.
    async fn learn_from_others(&self, noted: Noted) -> Noted {
        let mut left = Noted::default();
        for (scope, upto) in noted.scopes {
            // Not the head: it may be heard of only after what it is the head of was read.
            if !self.routing.reach(&*self.store, &scope, upto).await {
                left.scopes.insert(scope, upto);
            }
        }
        for erasure in noted.erasures {
            let Some(project) = self.routing.of(&erasure.scope) else { continue };
            if let Err(error) = project.forget_late(&*self.store, None, &erasure).await {
                put_off(error, "what routers know of somebody who was erased goes later");
                left.erasures.push(erasure);
            }
        }
        left
    }
}

/// What routers have not learnt yet.
#[derive(Default)]
struct ToLearn {
    noted: Mutex<Noted>,
    is_more: Notify,
}

/// Projects in which something was written, up to where, and erasures.
#[derive(Default)]
struct Noted {
    scopes: HashMap<Scope, Position>,
    erasures: Vec<Event>,
}

impl Noted {
    fn is_empty(&self) -> bool {
        self.scopes.is_empty() && self.erasures.is_empty()
    }
}

impl ToLearn {
    fn note(&self, more: Noted) {
        if !more.is_empty() {
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            for (scope, upto) in more.scopes {
                let known = noted.scopes.entry(scope).or_default();
                *known = upto.max(*known);
            }
            noted.erasures.extend(more.erasures);
            self.is_more.notify_one();
        }
    }

    fn take(&self) -> Noted {
        std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Changed {
    fn note(&mut self, change: &Change) {
        match change {
            Change::SetPrivacy(_) => self.privacy = true,
            Change::SetTargets(_) => self.targets = true,
            Change::Calibrate(_) => self.curves = true,
            // Read from the store whenever it is asked for, or followed by those who learn.
            Change::OpenTurn { .. }
            | Change::EraseUser(_)
            | Change::SetVector(_)
            | Change::CompleteTurn { .. }
            | Change::React { .. }
            | Change::ClearReaction
            | Change::Judge { .. }
            | Change::Review(_)
            | Change::Note(_)
            | Change::Count(_)
            | Change::EndSession { .. }
            | Change::Decide { .. }
            | Change::Settle { .. }
            | Change::Alert { .. }
            | Change::SetProfile(_)
            | Change::SetRouter { .. }
            | Change::Experiment(_)
            | Change::Return { .. }
            | Change::Weigh { .. } => {}
        }
    }
}

async fn follow_on(engine: Arc<Engine>, to_learn: Arc<ToLearn>, mut stop: Stop) {
    let mut heads = engine.store.watch();
    let mut heard = engine.opened_at;
    loop {
        let failed = engine.catch_up(&mut heard, &to_learn).await.is_err_and(|error| {
            put_off(error, "what other nodes wrote is heard later");
            true
        });
        tokio::select! {
            _ = stop.changed() => return,
            told = heads.changed(), if !failed => {
                if told.is_err() {
                    return; // the store is closed
                }
            }
            () = tokio::time::sleep(AGAIN), if failed => {}
        }
    }
}

async fn learn_on(engine: Arc<Engine>, to_learn: Arc<ToLearn>, mut stop: Stop) {
    loop {
        tokio::select! {
            _ = stop.changed() => return,
            () = to_learn.is_more.notified() => {}
        }
        let left = engine.learn_from_others(to_learn.take()).await;
        if !left.is_empty() {
            tokio::time::sleep(AGAIN).await;
            to_learn.note(left);
        }
    }
}

async fn look_at_keys(engine: Arc<Engine>, mut stop: Stop) {
    loop {
        engine.hear_of_keys().await;
        if engine.store.went_back() {
            engine.outdated.send_replace(true);
            return;
        }
        tokio::select! {
            _ = stop.changed() => return,
            () = tokio::time::sleep(KEYS_EVERY) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use connectors::HistoryKey;
    use model::{Kind, Opening, Role, Rule, Source, TurnHalf, TurnId, Type, UserId};

    use super::*;
    use crate::keys::NewKey;
    use crate::test_engine::{NOW, TestEngine, engine_in};
    use crate::visits::Pass;

    fn question(turn: &str, user: &str, secs: i64) -> Event {
        let half = TurnHalf::Opened(Opening { text: turn.into(), ..Opening::default() });
        Event {
            user: UserId::new(user).ok(),
            turn: TurnId::new(turn).ok(),
            ts: NOW.plus_secs(secs),
            kind: Kind { event_type: Type::Query, source: Source::Turn },
            data: Event::data_of(&half),
            ..testkit::event(&Scope::default(), turn)
        }
    }

    #[tokio::test]
    async fn only_questions_of_whom_another_node_forgot_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = engine_in(folder.path()).await;
        // On their way into the log, which could not bring them back yet.
        for (turn, user, secs) in [("t1", "ann", -1), ("t2", "bob", -1), ("t3", "ann", 1)] {
            engine.history.add(&question(turn, user, secs)).await;
        }
        let ann = UserId::new("ann").ok();
        engine.store_rule(&Scope::default(), ann, &Rule::HistoryForgotten).await.unwrap();
        engine.catch_up(&mut Position(0), &ToLearn::default()).await.unwrap();
        for (user, expected) in [("ann", "t3"), ("bob", "t2")] {
            let asker = HistoryKey::from_event(&question("x", user, 0)).unwrap();
            let recent = engine.history.recent(&asker, NOW.plus_secs(2)).await;
            let turns: Vec<String> =
                recent.into_iter().map(|(asked, _)| asked.turn.to_string()).collect();
            assert_eq!(turns, [expected], "{user}");
        }
    }

    #[tokio::test]
    async fn whoever_loses_their_key_at_another_node_is_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, store, .. } = engine_in(folder.path()).await;
        let (engine, tenant) = (Arc::new(engine), Scope::default().tenant);
        let new = NewKey { tenant, project: None, role: Role::Read, rate: None, origin: None };
        let (key, _) = engine.create_key(new).await.unwrap();
        store.revoke_key(&key.id, NOW).await.unwrap();
        let (scopes, pass) = ([Scope::default()], Pass::Key(key.id));
        let waits = engine.wait_for_any(&scopes, engine.head(), Duration::ZERO, &pass);
        let hears = look_at_keys(Arc::clone(&engine), engine.tasks.stop_signal());
        let let_go = async {
            tokio::select! {
                found = waits => found,
                () = hears => panic!("it goes on"),
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(60), let_go).await.unwrap();
        assert_eq!(found.unwrap(), None);
    }
}
