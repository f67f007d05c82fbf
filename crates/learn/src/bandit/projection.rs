//! A project's routers, advanced by the log: every event that says something about how a turn went
//! moves the arm that served that turn.
//!
//! Strictly in the order of the log. The same events give the same bits, from the beginning or from
//! any checkpoint, in whatever portions they come.

mod turn_record;
mod signals;

use std::collections::BTreeMap;

use model::{Body, Event, Finding, Position, RouterChoice, Rule, TurnId};

use crate::bandit::{RouterDefinition, RouterRule, RouterState};

pub use turn_record::{ServedTurn, TurnRecord};
pub use signals::signal_of;

/// A router and what it has learnt.
#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    /// As it is meant.
    pub rule: RouterRule,
    /// What it has learnt.
    pub state: RouterState,
}

/// All routers of a project, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routers(BTreeMap<String, Router>);

const MICROS_PER_HOUR: i64 = 3_600_000_000;

impl Routers {
    /// Puts a router in as it was kept.
    pub fn restore(&mut self, name: String, router: Router) {
        self.0.insert(name, router);
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<&Router> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Router)> {
        self.0.iter().map(|(name, router)| (name.as_str(), router))
    }

    /// The turns whose records an event needs.
    pub fn turns_of(event: &Event) -> Vec<TurnId> {
        let Ok(body) = Body::read(event.kind, &event.data) else { return Vec::new() };
        let says_nothing = matches!(
            body,
            Body::Turn(_)
                | Body::Rule(_)
                | Body::Finding(Finding::Choice(_) | Finding::Returned(_) | Finding::Relevance(_))
        );
        if says_nothing {
            return Vec::new();
        }
        let before =
            if let Body::Finding(Finding::Verdict(found)) = body { found.instead_of } else { None };
        event.turn.iter().cloned().chain(before).collect()
    }

    /// Learns from the event at a position. `records` has what was known of the turns that
    /// `turns_of` names, and is changed; `pseudonym` makes a stable number of a name, so that no
    /// name is kept.
    pub fn apply(
        &mut self,
        at: Position,
        event: &Event,
        records: &mut BTreeMap<TurnId, TurnRecord>,
        pseudonym: &dyn Fn(&str) -> u64,
    ) {
        let Ok(body) = Body::read(event.kind, &event.data) else { return };
        match &body {
            Body::Rule(Rule::Router { name, definition }) => self.define(name, definition),
            Body::Rule(Rule::RouterReset { name }) => {
                if let Some(Router { rule, state }) = self.0.get_mut(name) {
                    state.reset(rule);
                }
            }
            Body::Finding(Finding::Choice(choice)) => {
                if let Some(router) = self.0.get_mut(&choice.router) {
                    router.state.chosen(&choice.arm);
                }
            }
            Body::Finding(Finding::Served { choice, cost }) => {
                self.served(at, event, choice, *cost, records);
            }
            Body::Finding(Finding::Verdict(found)) => {
                let before = found.instead_of.as_ref();
                if let Some(before) = before.filter(|before| event.turn.as_ref() != Some(before)) {
                    let message = pseudonym(found.detected_in.as_str());
                    let taken_back = crate::Signal::Verdict { message, judged: None };
                    self.hear(at, event, before, &taken_back, records);
                }
                self.hear_event(at, event, &body, records, pseudonym);
            }
            Body::Finding(_)
            | Body::Rule(_)
            | Body::Turn(_)
            | Body::Rating(_)
            | Body::Comment(_)
            | Body::Correction(_)
            | Body::Interaction(_)
            | Body::Metric
            | Body::Decision(_)
            | Body::Settlement(_)
            | Body::Reaction(_)
            | Body::Other => self.hear_event(at, event, &body, records, pseudonym),
        }
    }

    /// Sets a router. A definition that an older program took and this one does not understand changes
    /// nothing.
    pub fn define(&mut self, name: &str, definition: &serde_json::Map<String, serde_json::Value>) {
        let value = serde_json::Value::Object(definition.clone());
        let Ok(written) = serde_json::from_value::<RouterDefinition>(value) else { return };
        let Ok(rule) = RouterRule::new(written) else { return };
        match self.0.get_mut(name) {
            Some(router) => {
                router.state.adopt(&rule);
                router.rule = rule;
            }
            None => {
                let state = RouterState::new(&rule);
                self.0.insert(name.to_owned(), Router { rule, state });
            }
        }
    }

    fn served(
        &mut self,
        at: Position,
        event: &Event,
        choice: &RouterChoice,
        cost: Option<f64>,
        records: &mut BTreeMap<TurnId, TurnRecord>,
    ) {
        let Some(turn) = &event.turn else { return };
        let record = records.entry(turn.clone()).or_default();
        if record.served.is_some() {
            return;
        }
        let life = self.0.get(&choice.router).and_then(|router| router.state.life_of(&choice.arm));
        record.served = Some(ServedTurn::new(choice, event.ts, life));
        let day = event.received_at.as_micros().div_euclid(24 * MICROS_PER_HOUR);
        if let Some(cost) = cost {
            record.evidence.take(at.0, &crate::Signal::Cost(cost));
            if let Some(router) = self.0.get_mut(&choice.router) {
                router.state.spent(&choice.arm, cost, day);
            }
        }
        self.settle(event, turn, records);
    }

    fn hear_event(
        &mut self,
        at: Position,
        event: &Event,
        body: &Body,
        records: &mut BTreeMap<TurnId, TurnRecord>,
        pseudonym: &dyn Fn(&str) -> u64,
    ) {
        let Some(turn) = &event.turn else { return };
        for signal in signal_of(event, body, pseudonym) {
            self.hear(at, event, turn, &signal, records);
        }
    }

    fn hear(
        &mut self,
        at: Position,
        event: &Event,
        turn: &TurnId,
        signal: &crate::Signal,
        records: &mut BTreeMap<TurnId, TurnRecord>,
    ) {
        records.entry(turn.clone()).or_default().evidence.take(at.0, signal);
        self.settle(event, turn, records);
    }

    /// What the turn teaches now takes the place of what it taught before.
    fn settle(&mut self, event: &Event, turn: &TurnId, records: &mut BTreeMap<TurnId, TurnRecord>) {
        let Some(record) = records.get_mut(turn) else { return };
        let Some(served) = &record.served else { return };
        let Some(Router { rule, state }) = self.0.get_mut(&served.router) else { return };
        if state.life_of(&served.arm) != served.life {
            return;
        }
        let now = record.evidence.observation(rule.reward());
        let hour = event.received_at.as_micros().div_euclid(MICROS_PER_HOUR);
        let features = served.features();
        let credit = served.credit(&features, u64::try_from(hour).unwrap_or(0));
        record.applied = state.observe(rule, &credit, record.applied, now);
    }

    /// Whoever rated a turn is nobody in particular from now on.
    pub fn anonymise(
        &mut self,
        event: &Event,
        turn: &TurnId,
        user: u64,
        records: &mut BTreeMap<TurnId, TurnRecord>,
    ) {
        if let Some(record) = records.get_mut(turn) {
            record.evidence.anonymise(user, signals::NOBODY);
            self.settle(event, turn, records);
        }
    }

    /// The features of a turn go, and what regressions learnt from them.
    pub fn forget(&mut self, record: &mut TurnRecord) {
        let Some(served) = &mut record.served else { return };
        let features = served.features();
        if let Some(Router { rule, state }) = self.0.get_mut(&served.router)
            && let Some(applied) = record.applied
        {
            let credit = served.credit(&features, 0);
            record.applied = Some(state.forget_features(rule, &credit, applied));
        }
        served.forget();
    }
}

#[cfg(test)]
mod tests;
