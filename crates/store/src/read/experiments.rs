//! Reading experiments: how they stand, and what their units add up to.

use model::{ExperimentId, Metric, Moments, Position, Scope, Timestamp};
use serde_json::{Map, Value};

use super::quality::counters;

counters! {
    /// What a unit's turns add up to.
    UnitSums:
    /// Turns.
    turns,
    /// Those that have an answer.
    answered,
    /// Answers that failed.
    failed,
    /// Good reactions of users.
    ok,
    /// Bad ones.
    not_ok,
    /// Those in between.
    neutral,
    /// Answers that were rejected.
    rejected,
    /// Answers that were corrected.
    corrected,
    /// Turns whose question was asked again.
    retried,
    /// Answers whose time is known.
    timed,
    /// How long those took.
    millis,
    /// What all answers cost, in billionths.
    cost,
    /// Answers that a validator gave a score.
    scored,
    /// The sum of those scores, in billionths.
    score,
}

impl UnitSums {
    /// The sum of a metric and how many turns it is over. Shares are those of the quality figures.
    pub fn measured(&self, metric: Metric) -> (f64, f64) {
        let of = |value: i64, count: i64| (value as f64, count as f64);
        match metric {
            Metric::Satisfaction => of(self.ok, self.ok + self.not_ok + self.neutral),
            Metric::ErrorRate => of(self.failed, self.answered),
            Metric::RejectionRate => of(self.rejected, self.answered),
            Metric::CorrectionRate => of(self.corrected, self.answered),
            Metric::RetryRate => of(self.retried, self.turns),
            Metric::Latency => (self.millis as f64 / 1e3, self.timed as f64),
            Metric::Cost => (self.cost as f64 / 1e9, self.answered as f64),
            Metric::QualityScore => (self.score as f64 / 1e9, self.scored as f64),
            // Refused when an experiment is defined: only routers know it.
            Metric::Reward => (0.0, 0.0),
        }
    }

    /// The mean of a metric; `None` when no turn has it.
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        let (value, count) = self.measured(metric);
        (count > 0.0).then(|| value / count)
    }
}

/// An experiment as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredExperiment {
    /// Which.
    pub id: ExperimentId,
    /// Where its definition is in the log.
    pub position: Position,
    /// As it was written.
    pub definition: Map<String, Value>,
    /// Where it stands.
    pub status: String,
    /// When it was defined.
    pub created: Timestamp,
    /// When it came to stand where it stands.
    pub changed: Timestamp,
    /// How its shares moved, in order.
    pub moves: Vec<StoredMove>,
}

/// A move of an experiment's shares.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMove {
    /// 1, 2, 3 and so on.
    pub number: u32,
    /// When.
    pub ts: Timestamp,
    /// The share of each variant from then on.
    pub shares: Vec<f64>,
    /// From where to where and why, with the evidence.
    pub step: Map<String, Value>,
}

/// Where an experiment stands, and what one unit is served in it: what an assignment asks for, in one
/// read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStanding {
    /// Where its definition is in the log.
    pub position: Position,
    /// Where it stands.
    pub status: String,
    /// How many moves its shares have made.
    pub moves: u32,
    /// What the unit is served; `None` if it was never exposed.
    pub exposure: Option<StoredExposure>,
}

/// What a unit is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredExposure {
    /// The variant that it was served first.
    pub first: u32,
    /// The variant that it is served now.
    pub current: u32,
}

/// Where a row stands among the units of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitMark {
    /// A number that stands for the unit.
    pub unit: i64,
    /// Its variant, or -1 for its time before.
    pub variant: i64,
}

/// What a unit gave while it was served a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredUnit {
    /// Whose it is, without saying who.
    pub mark: UnitMark,
    /// The variant; `None` for its time before it was exposed.
    pub variant: Option<u32>,
    /// How many moves there had been when it was first served this variant.
    pub moves: u32,
    /// It is the unit's first variant.
    pub first: bool,
    /// What it gave.
    pub sums: UnitSums,
}

/// What all units add up to that were first served a variant after so many moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSums {
    /// The variant.
    pub variant: u32,
    /// How many moves there had been.
    pub moves: u32,
    /// Units whose first variant it is.
    pub exposed: u64,
    /// Of the experiment's own metric, over those units; then of each guardrail's, over all.
    pub moments: Vec<Moments>,
}

/// An experiment somewhere.
pub type ExperimentScope = (Scope, ExperimentId);
