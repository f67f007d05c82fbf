//! Which earlier approach to reuse, and which to avoid.

use std::cmp::{Ordering, Reverse};

use model::{Timestamp, UnitInterval, ValidationOutcome, VerdictStatus};

/// A validator that said nothing is taken for an average one.
const UNKNOWN_QUALITY: f64 = 0.5;

/// How well a turn went, from −1 to 1. The user's rejection outweighs any validator.
pub fn satisfaction(outcome: Option<ValidationOutcome>, status: VerdictStatus) -> f64 {
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

/// How good a turn's strategy looks for reuse: what the validator said, and what the user did.
pub fn ranking_score(quality: Option<UnitInterval>, status: VerdictStatus) -> f64 {
    let weight = match status {
        VerdictStatus::Rejected => -1.0,
        VerdictStatus::Accepted => 0.5,
        VerdictStatus::Neutral => 0.0,
    };
    let score = 0.6 * quality.map_or(UNKNOWN_QUALITY, UnitInterval::get) + 0.4 * weight;
    // Scores are shown to people and compared for ties: 0.74, not 0.7400000000000001.
    (score * 1e12).round() / 1e12
}

/// In which order strategies are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankMode {
    /// Accepted before neutral, neutral before silent; the score decides inside a tier.
    Tiered,
    /// The score alone.
    Formula,
}

/// An earlier turn whose strategy might be reused.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategyCandidate<T> {
    /// Which turn.
    pub turn: T,
    /// What the user made of its answer.
    pub status: VerdictStatus,
    /// The validator's score.
    pub quality: Option<UnitInterval>,
    /// How near its question is to the one at hand.
    pub similarity: f64,
    /// Its session ended without another message.
    pub silent: bool,
    /// When it was asked.
    pub ts: Timestamp,
    /// It says how it was answered, so there is something to reuse.
    pub has_strategy: bool,
}

/// The best first. Rejected turns are left out; in a tier those without a strategy come last.
pub fn rank<T: Ord>(
    mode: RankMode,
    candidates: Vec<StrategyCandidate<T>>,
) -> Vec<StrategyCandidate<T>> {
    let mut ranked = candidates;
    ranked.retain(|candidate| candidate.status != VerdictStatus::Rejected);
    ranked.sort_by(|a, b| compare(mode, a, b));
    ranked
}

fn compare<T: Ord>(mode: RankMode, a: &StrategyCandidate<T>, b: &StrategyCandidate<T>) -> Ordering {
    let score = |c: &StrategyCandidate<T>| ranking_score(c.quality, c.status);
    let group = |c: &StrategyCandidate<T>| match mode {
        RankMode::Tiered => (tier(c), !c.has_strategy),
        RankMode::Formula => (0, false),
    };
    group(a)
        .cmp(&group(b))
        .then_with(|| score(b).total_cmp(&score(a)))
        .then_with(|| b.similarity.total_cmp(&a.similarity))
        .then_with(|| Reverse(a.ts).cmp(&Reverse(b.ts)))
        // Two turns of one moment must not change places from one search to the next.
        .then_with(|| a.turn.cmp(&b.turn))
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
