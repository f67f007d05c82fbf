//! What an answer was worth by what happened around it. The first match wins.

use model::VerdictStatus;

use super::override_condition::Condition;
use super::definition::RewardRule;
use super::turn_evidence::{Judged, TurnEvidence};

/// An implicit reward, and how sure we are of the sign it was read from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Implicit {
    /// From 0 to 1.
    pub reward: f64,
    /// From 0 to 1; multiplies the weight of the evidence, never the reward.
    pub confidence: f64,
}

const RETRIED: f64 = 0.3;
const QUICK: f64 = 0.9;
const BEARABLE: f64 = 0.7;
const SLOW: f64 = 0.5;

/// Errors and rejections first, then what the router's owner said about interactions: exporting an
/// answer does not make a failure good, but a regeneration may be worse than another retry.
pub(super) fn implicit(rule: &RewardRule, evidence: &TurnEvidence) -> Option<Implicit> {
    let certain = |reward| Some(Implicit { reward, confidence: 1.0 });
    if evidence.failed() {
        return certain(0.0);
    }
    let verdict = evidence.verdict();
    if let Some(Judged { status: VerdictStatus::Rejected, confidence, .. }) = verdict {
        return Some(Implicit { reward: 0.0, confidence: confidence.get() });
    }
    if let Some(reward) = overriding(rule, evidence) {
        return certain(reward);
    }
    if let Some(confidence) = evidence.retried() {
        return Some(Implicit { reward: RETRIED, confidence });
    }
    if let Some(Judged { status: VerdictStatus::Accepted, confidence, .. }) = verdict {
        return Some(Implicit { reward: 1.0, confidence: confidence.get() });
    }
    let [quick, slow] = rule.definition().latency_seconds;
    match evidence.seconds() {
        Some(seconds) if seconds > slow => certain(SLOW),
        Some(seconds) if seconds > quick => certain(BEARABLE),
        Some(_) => certain(QUICK),
        None => None,
    }
}

/// Several overrides may hold at once, and the order in which things happened must not matter: a
/// bad sign beats a good one, and of two on the same side the stronger counts.
fn overriding(rule: &RewardRule, evidence: &TurnEvidence) -> Option<f64> {
    let holds = |condition: Condition| match condition {
        Condition::Did(kind) => evidence.did(kind),
        Condition::Dwell(bound) => evidence.dwell_ms().is_some_and(|dwell| bound.holds(dwell)),
    };
    let held = rule.overrides().iter().filter(|(condition, _)| holds(*condition));
    held.map(|(_, reward)| *reward).reduce(|one, other| {
        let worst = one.min(other);
        if worst < 0.5 { worst } else { one.max(other) }
    })
}
