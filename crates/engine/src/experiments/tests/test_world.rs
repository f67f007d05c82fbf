//! An engine with its own store, and the actions that tests perform.

use std::sync::Arc;

use learn::experiment::{ExperimentDefinition, ExperimentEvidence, LifecycleAction, TrafficShares};
use model::{
    Change, ConversationId, ExperimentId, ExperimentRule, Mac, Outcome, Scope, Timestamp, TurnId,
};
use serde_json::{Value, json};
use store::{Limits, Store};
use tempfile::TempDir;
use testkit::TestClock;

use super::super::ExperimentView;
use super::unit_evidence;
use crate::{
    Detectors, Embedder, Engine, Include, IncomingHalf, IncomingReaction, IncomingTurn,
    RawCompletion, RawOpening, RawReaction,
};

const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

pub(super) struct TestWorld {
    pub(super) engine: Engine,
    pub(super) scope: Scope,
    pub(super) clock: Arc<TestClock>,
    _folder: TempDir,
}

pub(super) fn parse_id(id: &str) -> ExperimentId {
    ExperimentId::new(id).unwrap()
}

impl TestWorld {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Limits::default(), [7; 32]).unwrap();
        let (store, clock): (Arc<Store>, _) = (Arc::new(store), Arc::new(TestClock::new(START)));
        let (detectors, embedder) = (Detectors::default(), Embedder::default());
        let time = Arc::clone(&clock);
        let engine = Engine::open(store, time, [5; 32], detectors, embedder).await.unwrap();
        Self { engine, scope: Scope::default(), clock, _folder: folder }
    }

    /// Defines and starts an experiment with `more` as additional fields.
    pub(super) async fn start_experiment(&self, id: &str, more: &Value) {
        let mut written = json!({"name": id, "unit": "user",
            "variants": [{"name": "control"}, {"name": "treatment"}, {"name": "other"}]});
        written.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let definition: ExperimentDefinition = serde_json::from_value(written).unwrap();
        let (scope, mac) = (&self.scope, Mac([1; 16]));
        let id = parse_id(id);
        self.engine
            .experiments
            .create_experiment(scope, Some(id.clone()), &definition, mac, None)
            .await
            .unwrap();
        self.engine
            .experiments
            .apply_action(scope, &id, LifecycleAction::Start, None)
            .await
            .unwrap();
    }

    /// Stores a rule without validation.
    pub(super) async fn store_rule(&self, rule: ExperimentRule) {
        let write = self.engine.experiments.build_experiment_write(&self.scope, rule, None, None);
        let is_change = |change: &Change| matches!(change, Change::Experiment(_));
        assert!(write.entry.changes.iter().any(is_change));
        let outcomes = self.engine.core.store_writes(vec![write]).await.unwrap();
        assert!(matches!(outcomes[..], [Outcome::Stored(_)]), "{outcomes:?}");
    }

    pub(super) async fn move_shares(&self, id: &str, weights: &[f64]) {
        let view = self.load_view(id).await;
        let shares = TrafficShares::from_weights(weights).as_slice().to_vec();
        let number = view.moves.len() as u32 + 1;
        let step = json!({"why": "learnt"}).as_object().cloned().unwrap();
        self.store_rule(ExperimentRule::Moved {
            experiment_id: parse_id(id),
            number,
            shares,
            step,
        })
        .await;
    }

    pub(super) async fn load_view(&self, id: &str) -> ExperimentView {
        self.engine.experiments.load_experiment(&self.scope, &parse_id(id)).await.unwrap()
    }

    /// Evidence from sums and from units.
    pub(super) async fn load_both_evidences(
        &self,
        id: &str,
    ) -> (ExperimentEvidence, ExperimentEvidence) {
        let view = self.load_view(id).await;
        let by_sum = self.engine.experiments.load_evidence(&self.scope, &view).await.unwrap();
        (by_sum, unit_evidence::evidence_from_units(&self.engine, &self.scope, &view).await)
    }

    pub(super) async fn assign_variant(&self, id: &str, unit: &str) -> String {
        self.engine.experiments.assign(&self.scope, &parse_id(id), unit).await.unwrap().variant
    }

    /// Opens and completes turn `n` of a user.
    pub(super) async fn complete_turn(&self, user: &str, n: u64, answer: RawCompletion) {
        let opening = RawOpening {
            turn_id: Some(format!("{user}-{n}")),
            conversation_id: Some(format!("c-{user}")),
            user_id: Some(user.to_owned()),
            text: format!("question {n} about something else each time {}", n * 7919),
            ..RawOpening::default()
        };
        let mac = Mac([2; 16]);
        let incoming = IncomingTurn {
            opening: IncomingHalf { raw: opening, mac },
            completion: Some(IncomingHalf { raw: answer, mac }),
            key: None,
            include: Include::default(),
            router: None,
        };
        self.engine.turns.open_turn(&self.scope, incoming).await.unwrap();
    }

    pub(super) async fn set_reaction(&self, user: &str, n: u64, reaction: Value) {
        let raw = RawReaction { reaction: Some(reaction), ..RawReaction::default() };
        let incoming = IncomingReaction {
            conversation: ConversationId::new(format!("c-{user}")).unwrap(),
            turn: TurnId::new(format!("{user}-{n}")).unwrap(),
            raw,
            mac: Mac([n as u8; 16]),
            key: None,
        };
        self.engine.feedback.react(&self.scope, incoming).await.unwrap();
    }
}

/// An answer whose properties vary with `more`.
pub(super) fn completion(more: u64) -> RawCompletion {
    let failed = more.is_multiple_of(5);
    RawCompletion {
        response: (!failed).then(|| "an answer".to_owned()),
        status: failed.then(|| "error".to_owned()),
        error: failed.then(|| "timeout".to_owned()),
        latency_ms: (!more.is_multiple_of(3)).then_some((more % 40_000) as f64 / 7.0),
        cost: (!more.is_multiple_of(7)).then_some((more % 1_000) as f64 / 3e4),
        quality_score: more.is_multiple_of(2).then_some((more % 101) as f64 / 101.0),
        ..RawCompletion::default()
    }
}
