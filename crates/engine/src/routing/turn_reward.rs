//! The reward of a turn, from its stored events.

use std::collections::HashMap;

use learn::{
    RewardRule, RouterDefinition, RouterRule, TurnEvidence, TurnReward, TurnSignal, extract_signals,
};
use model::hash::fnv1a_64;
use model::{Body, Finding, Scope};
use store::StoredTurn;

use crate::routing::Routing;

impl Routing {
    /// Computes the reward by the definition of the router that served the turn, or the default.
    pub(crate) fn turn_reward(&self, scope: &Scope, turn: &StoredTurn) -> TurnReward {
        let project = self.states.find_project(scope);
        compute_reward(turn, |router| {
            project?.read_routers(|routers| {
                routers.get(router).map(|router| router.rule.reward().clone())
            })
        })
    }
}

/// The reward definitions of a project's routers.
#[derive(Clone, Debug, Default)]
pub(crate) struct RewardRules(HashMap<String, RewardRule>);

impl RewardRules {
    /// Parses names and definitions of routers. An unreadable definition counts as the default.
    pub(crate) fn parse(routers: Vec<(String, String)>) -> Self {
        let rule = |written: &str| {
            let definition: RouterDefinition = serde_json::from_str(written).ok()?;
            Some(RouterRule::new(definition).ok()?.reward().clone())
        };
        let rules = routers.into_iter();
        Self(rules.filter_map(|(name, written)| Some((name, rule(&written)?))).collect())
    }

    pub(crate) fn reward(&self, turn: &StoredTurn) -> TurnReward {
        compute_reward(turn, |router| self.0.get(router).cloned())
    }
}

/// The reward of a turn. `find_rule` returns the definition of a router.
fn compute_reward(
    turn: &StoredTurn,
    find_rule: impl FnOnce(&str) -> Option<RewardRule>,
) -> TurnReward {
    let (evidence, router) = collect_evidence(turn);
    let rule = router.as_deref().and_then(find_rule).unwrap_or_default();
    evidence.turn_reward(&rule)
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
