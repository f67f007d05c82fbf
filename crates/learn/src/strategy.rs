//! Ranks the strategies of earlier turns for reuse.

use model::{Strategy, Timestamp, UnitInterval, ValidationOutcome, VerdictStatus};

/// Score of a turn without a validator score.
const UNKNOWN_QUALITY: f64 = 0.5;

/// Confidence from which an acceptance was expressed. A user who only moves on accepts with less.
const MIN_SURE_CONFIDENCE: f64 = 0.70;

/// True for an acceptance that the user expressed, by words or by a reaction.
pub fn is_sure_acceptance(status: VerdictStatus, confidence: UnitInterval) -> bool {
    status == VerdictStatus::Accepted && confidence.get() >= MIN_SURE_CONFIDENCE
}

/// A turn with its strategy, as far as it decides whether the strategy is reused.
#[derive(Clone, Copy, Debug)]
pub struct StrategyUse<'a> {
    pub strategy: Option<&'a Strategy>,
    pub status: VerdictStatus,
    pub confidence: UnitInterval,
}

/// True when a strategy, by name and parameters, was rejected at least as often as it was accepted.
/// Moving on is no acceptance here.
pub fn is_rejected_strategy(strategy: &Strategy, uses: &[StrategyUse<'_>]) -> bool {
    let same = || uses.iter().filter(|one| one.strategy == Some(strategy));
    let rejected = same().filter(|one| one.status == VerdictStatus::Rejected).count();
    let accepted = same().filter(|one| is_sure_acceptance(one.status, one.confidence)).count();
    rejected > 0 && rejected >= accepted
}

/// Satisfaction with a turn, from −1 to 1. A user rejection overrides any validator outcome.
pub fn compute_satisfaction(outcome: Option<ValidationOutcome>, status: VerdictStatus) -> f64 {
    let base = match outcome {
        Some(ValidationOutcome::Approve) => 0.5,
        Some(ValidationOutcome::Revise) => 0.3,
        Some(ValidationOutcome::Retry) => 0.1,
        Some(ValidationOutcome::Fail) => -0.5,
        None => 0.0,
    };
    match status {
        VerdictStatus::Rejected => -1.0,
        VerdictStatus::Accepted => f64::min(base + 0.5, 1.0),
        VerdictStatus::Neutral => base,
    }
}

/// Score of a turn's strategy for reuse: 60% validator quality, 40% user verdict.
pub fn compute_ranking_score(quality: Option<UnitInterval>, status: VerdictStatus) -> f64 {
    let weight = match status {
        VerdictStatus::Rejected => -1.0,
        VerdictStatus::Accepted => 0.5,
        VerdictStatus::Neutral => 0.0,
    };
    let score = 0.6 * quality.map_or(UNKNOWN_QUALITY, UnitInterval::get) + 0.4 * weight;
    // Rounded because scores are displayed and compared for ties: 0.74, not 0.7400000000000001.
    (score * 1e12).round() / 1e12
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankMode {
    /// Accepted before neutral, neutral before silent. The score decides inside a tier.
    Tiered,
    Formula,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StrategyCandidate<T> {
    pub turn: T,
    pub status: VerdictStatus,
    pub quality: Option<UnitInterval>,
    /// Cosine similarity of its question to the current one.
    pub similarity: f64,
    /// True when the session ended without another message.
    pub silent: bool,
    pub ts: Timestamp,
    pub has_strategy: bool,
}

/// Best first, without rejected turns. In a tier, turns without a strategy come last.
pub fn rank_strategies<T: Ord>(
    mode: RankMode,
    candidates: Vec<StrategyCandidate<T>>,
) -> Vec<StrategyCandidate<T>> {
    let score = |c: &StrategyCandidate<T>| compute_ranking_score(c.quality, c.status);
    let group = |c: &StrategyCandidate<T>| match mode {
        RankMode::Tiered => (tier(c), !c.has_strategy),
        RankMode::Formula => (0, false),
    };
    let mut ranked = candidates;
    ranked.retain(|candidate| candidate.status != VerdictStatus::Rejected);
    ranked.sort_by(|a, b| {
        group(a)
            .cmp(&group(b))
            .then_with(|| score(b).total_cmp(&score(a)))
            .then_with(|| b.similarity.total_cmp(&a.similarity))
            .then_with(|| b.ts.cmp(&a.ts))
            // The id makes the order of simultaneous turns deterministic.
            .then_with(|| a.turn.cmp(&b.turn))
    });
    ranked
}

fn tier<T>(candidate: &StrategyCandidate<T>) -> u8 {
    match candidate.status {
        VerdictStatus::Accepted => 0,
        VerdictStatus::Neutral if !candidate.silent => 1,
        VerdictStatus::Neutral => 2,
        VerdictStatus::Rejected => 3,
    }
}

#[cfg(test)]
mod tests;
