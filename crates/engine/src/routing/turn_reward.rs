//! The reward of a turn, from its stored events.

use learn::{TurnEvidence, TurnSignal, extract_signals};
use model::hash::fnv1a_64;
use model::{Body, Finding, Scope};
use store::StoredTurn;

use crate::routing::Routing;

/// A turn's reward by all signals so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnReward {
    /// 0 to 1; 0.7 without signals.
    pub value: f64,
    /// Weight of the signals for routers; 0 without signals.
    pub weight: f64,
}

impl Routing {
    /// Computes the reward by the definition of the router that served the turn, or the default.
    pub(crate) fn turn_reward(&self, scope: &Scope, turn: &StoredTurn) -> TurnReward {
        let (evidence, router) = collect_evidence(turn);
        let project = self.states.find_project(scope);
        let rule = project.zip(router).and_then(|(project, router)| {
            project.read_routers(|routers| {
                routers.get(&router).map(|router| router.rule.reward().clone())
            })
        });
        let rule = rule.unwrap_or_default();
        let weight = evidence.observation(&rule).map_or(0.0, |observed| observed.weight());
        TurnReward { value: evidence.reward(&rule), weight }
    }
}

/// The evidence about a turn and the router that served it. Withdrawn verdicts do not count.
fn collect_evidence(turn: &StoredTurn) -> (TurnEvidence, Option<String>) {
    let (mut evidence, mut router) = (TurnEvidence::default(), None);
    for stored in &turn.events {
        let position = stored.position;
        if let Body::Finding(Finding::Served { choice, cost }) = &stored.event.body {
            // The first choice counts.
            if router.is_none() {
                router = Some(choice.router.clone());
                if let Some(cost) = cost {
                    evidence.record(position.0, &TurnSignal::Cost(*cost));
                }
            }
            continue;
        }
        let is_verdict = matches!(stored.event.body, Body::Finding(Finding::Verdict(_)));
        if is_verdict && !turn.verdicts.contains(&position) {
            continue;
        }
        for signal in extract_signals(&stored.event, &|name| fnv1a_64(name.as_bytes())) {
            evidence.record(position.0, &signal);
        }
    }
    (evidence, router)
}
