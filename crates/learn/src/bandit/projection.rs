//! A project's routers as a projection of the event log.
//!
//! Events must be applied in log order. Checkpoints and batch sizes do not affect the result.

mod turn_record;
mod signals;

use std::collections::BTreeMap;

use model::{Body, Event, Finding, Position, RouterChoice, Rule, TurnId};
use serde_json::{Map, Value};

use super::{RouterDefinition, RouterRule, RouterState};
use crate::reward::{ANONYMOUS_USER, TurnSignal};

pub use signals::extract_signals;
pub use turn_record::{ServedTurn, TurnRecord};

#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    pub rule: RouterRule,
    pub state: RouterState,
}

type TurnRecords = BTreeMap<TurnId, TurnRecord>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routers(BTreeMap<String, Router>);

const MICROS_PER_HOUR: i64 = 3_600_000_000;

impl Routers {
    /// Inserts a router loaded from a checkpoint.
    pub fn restore(&mut self, name: String, router: Router) {
        self.0.insert(name, router);
    }

    pub fn get(&self, name: &str) -> Option<&Router> {
        self.0.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Router)> {
        self.0.iter().map(|(name, router)| (name.as_str(), router))
    }

    /// The turns whose records `apply_event` needs.
    pub fn affected_turns(event: &Event) -> Vec<TurnId> {
        let carries_no_signal = matches!(
            event.body,
            Body::Turn(_)
                | Body::Rule(_)
                | Body::Spans(_)
                | Body::Unreadable(_)
                | Body::Finding(
                    Finding::Choice(_)
                        | Finding::Returned(_)
                        | Finding::Relevance(_)
                        | Finding::PendingUsage(_)
                        | Finding::Trace(_)
                )
        );
        if carries_no_signal {
            return Vec::new();
        }
        let before = if let Body::Finding(Finding::Verdict(found)) = &event.body {
            found.instead_of.clone()
        } else {
            None
        };
        event.turn.iter().cloned().chain(before).collect()
    }

    /// Applies the event at a log position. `records` holds the records of `affected_turns` and is
    /// updated. `pseudonym` maps a name to a stable number, so that no name is stored.
    pub fn apply_event(
        &mut self,
        at: Position,
        event: &Event,
        records: &mut TurnRecords,
        pseudonym: &dyn Fn(&str) -> u64,
    ) {
        match &event.body {
            Body::Rule(Rule::Router { name, definition }) => self.define_router(name, definition),
            Body::Rule(Rule::RouterReset { name }) => {
                if let Some(Router { rule, state }) = self.0.get_mut(name) {
                    state.reset(rule);
                }
            }
            Body::Finding(Finding::Choice(choice)) => {
                if let Some(router) = self.0.get_mut(&choice.router) {
                    router.state.record_choice(&choice.arm);
                }
            }
            Body::Finding(Finding::Served { choice, cost }) => {
                self.record_served(at, event, choice, *cost, records);
            }
            Body::Finding(Finding::Verdict(found)) => {
                let before = found.instead_of.as_ref();
                if let Some(before) = before.filter(|before| event.turn.as_ref() != Some(before)) {
                    let message = pseudonym(found.detected_in.as_str());
                    let withdrawal = TurnSignal::Verdict { message, judged: None };
                    self.record_signal(at, event, before, &withdrawal, records);
                }
                self.record_event_signals(at, event, records, pseudonym);
            }
            Body::Finding(_)
            | Body::Rule(_)
            | Body::Turn(_)
            | Body::Rating(_)
            | Body::Comment(_)
            | Body::Correction(_)
            | Body::Interaction(_)
            | Body::Metric(_)
            | Body::Decision(_)
            | Body::Settlement(_)
            | Body::Spans(_)
            | Body::Reaction(_)
            | Body::Other(_)
            | Body::Unreadable(_) => self.record_event_signals(at, event, records, pseudonym),
        }
    }

    /// Creates or updates a router. Ignores a definition that this version cannot parse.
    pub fn define_router(&mut self, name: &str, definition: &Map<String, Value>) {
        let value = Value::Object(definition.clone());
        let Ok(definition) = serde_json::from_value::<RouterDefinition>(value) else { return };
        let Ok(rule) = RouterRule::new(definition) else { return };
        match self.0.get_mut(name) {
            Some(router) => {
                router.state.adopt_rule(&rule);
                router.rule = rule;
            }
            None => {
                let state = RouterState::new(&rule);
                self.0.insert(name.to_owned(), Router { rule, state });
            }
        }
    }

    fn record_served(
        &mut self,
        at: Position,
        event: &Event,
        choice: &RouterChoice,
        cost: Option<f64>,
        records: &mut TurnRecords,
    ) {
        let Some(turn) = &event.turn else { return };
        let record = records.entry(turn.clone()).or_default();
        if record.served.is_some() {
            return;
        }
        let router = self.0.get(&choice.router);
        let generation = router.and_then(|router| router.state.arm_generation(&choice.arm));
        record.served = Some(ServedTurn::new(choice, event.ts, generation));
        let day = event.received_at.as_micros().div_euclid(24 * MICROS_PER_HOUR);
        if let Some(cost) = cost {
            record.evidence.record(at.0, &TurnSignal::Cost(cost));
            if let Some(router) = self.0.get_mut(&choice.router) {
                router.state.record_cost(&choice.arm, cost, day);
            }
        }
        self.update_observation(event, turn, records);
    }

    fn record_event_signals(
        &mut self,
        at: Position,
        event: &Event,
        records: &mut TurnRecords,
        pseudonym: &dyn Fn(&str) -> u64,
    ) {
        let Some(turn) = &event.turn else { return };
        for signal in extract_signals(event, pseudonym) {
            self.record_signal(at, event, turn, &signal, records);
        }
    }

    fn record_signal(
        &mut self,
        at: Position,
        event: &Event,
        turn: &TurnId,
        signal: &TurnSignal,
        records: &mut TurnRecords,
    ) {
        records.entry(turn.clone()).or_default().evidence.record(at.0, signal);
        self.update_observation(event, turn, records);
    }

    /// Replaces the turn's previous observation by its current one.
    fn update_observation(&mut self, event: &Event, turn: &TurnId, records: &mut TurnRecords) {
        let Some(record) = records.get_mut(turn) else { return };
        let Some(served) = &record.served else { return };
        let Some(Router { rule, state }) = self.0.get_mut(&served.router) else { return };
        if state.arm_generation(&served.arm) != served.generation {
            return;
        }
        let now = record.evidence.observation(rule.reward());
        let hour = event.received_at.as_micros().div_euclid(MICROS_PER_HOUR);
        let features = served.features();
        let credit = served.to_credit(&features, u64::try_from(hour).unwrap_or(0));
        record.applied = state.observe(rule, &credit, record.applied, now);
    }

    /// Moves a user's rating of a turn to the anonymous user, for erasure.
    pub fn anonymise_rating(
        &mut self,
        event: &Event,
        turn: &TurnId,
        user: u64,
        records: &mut TurnRecords,
    ) {
        if let Some(record) = records.get_mut(turn) {
            record.evidence.anonymise_rating(user, ANONYMOUS_USER);
            self.update_observation(event, turn, records);
        }
    }

    /// Removes the turn's features and their effect on regressions, for erasure.
    pub fn forget_features(&mut self, record: &mut TurnRecord) {
        let Some(served) = &mut record.served else { return };
        let features = served.features();
        if let Some(Router { rule, state }) = self.0.get_mut(&served.router)
            && let Some(applied) = record.applied
        {
            let credit = served.to_credit(&features, 0);
            record.applied = Some(state.forget_features(rule, &credit, applied));
        }
        served.clear_features();
    }
}

#[cfg(test)]
mod tests;
