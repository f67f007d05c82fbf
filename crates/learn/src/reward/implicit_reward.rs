//! Implicit reward of a turn. The first matching rule wins.

use model::VerdictStatus;

use super::definition::RewardRule;
use super::override_condition::OverrideCondition;
use super::turn_evidence::{MessageVerdict, TurnEvidence};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitReward {
    /// Reward, 0 to 1.
    pub reward: f64,
    /// Confidence in the signal, 0 to 1. Scales the weight of the evidence, never the reward.
    pub confidence: f64,
}

const RETRY_REWARD: f64 = 0.3;
const FAST_REWARD: f64 = 0.9;
const ACCEPTABLE_REWARD: f64 = 0.7;
const SLOW_REWARD: f64 = 0.5;

/// Errors and rejections come first, then the configured overrides. An export does not excuse a
/// failure, but a regeneration may be worse than a retry.
pub(super) fn compute_implicit_reward(
    rule: &RewardRule,
    evidence: &TurnEvidence,
) -> Option<ImplicitReward> {
    let certain = |reward| Some(ImplicitReward { reward, confidence: 1.0 });
    if evidence.failed() {
        return certain(0.0);
    }
    let verdict = evidence.effective_verdict();
    if let Some(MessageVerdict { status: VerdictStatus::Rejected, confidence, .. }) = verdict {
        return Some(ImplicitReward { reward: 0.0, confidence: confidence.get() });
    }
    if let Some(reward) = override_reward(rule, evidence) {
        return certain(reward);
    }
    if let Some(confidence) = evidence.retried() {
        return Some(ImplicitReward { reward: RETRY_REWARD, confidence });
    }
    if let Some(MessageVerdict { status: VerdictStatus::Accepted, confidence, .. }) = verdict {
        return Some(ImplicitReward { reward: 1.0, confidence: confidence.get() });
    }
    let [quick, slow] = rule.definition().latency_seconds;
    match evidence.seconds() {
        Some(seconds) if seconds > slow => certain(SLOW_REWARD),
        Some(seconds) if seconds > quick => certain(ACCEPTABLE_REWARD),
        Some(_) => certain(FAST_REWARD),
        None => None,
    }
}

/// Several overrides may hold at once and their order must not matter. A reward below 0.5 beats a
/// higher one; on the same side the more extreme wins.
fn override_reward(rule: &RewardRule, evidence: &TurnEvidence) -> Option<f64> {
    let holds = |condition: OverrideCondition| match condition {
        OverrideCondition::Interaction(kind) => evidence.has_interaction(kind),
        OverrideCondition::Dwell(bound) => {
            evidence.dwell_ms().is_some_and(|dwell| bound.is_met(dwell))
        }
    };
    let held = rule.overrides().iter().filter(|(condition, _)| holds(*condition));
    held.map(|(_, reward)| *reward).reduce(|one, other| {
        let worst = one.min(other);
        if worst < 0.5 { worst } else { one.max(other) }
    })
}
