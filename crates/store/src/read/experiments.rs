//! Reading experiments: how they stand, and what their units add up to.

use event::{ExperimentId, ExperimentUnit, Position, Scope, Timestamp};
use serde_json::{Map, Value};

use super::quality::counters;
use crate::log::Task;

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

/// An experiment somewhere.
pub type ExperimentScope = (Scope, ExperimentId);

/// Experiments as those who run and judge them see them.
pub trait ExperimentReads: Send + Sync {
    /// One of them.
    fn experiment(&self, scope: &Scope, id: &ExperimentId) -> Task<'_, Option<StoredExperiment>>;

    /// Those of a project that were defined behind a position, in order.
    fn experiments(
        &self,
        scope: &Scope,
        after: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredExperiment>>;

    /// All that are running or paused, of everybody.
    fn experiments_going_on(&self) -> Task<'_, Vec<ExperimentScope>>;

    /// What a user or conversation is served, if it was ever exposed.
    fn exposure(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        unit: ExperimentUnit,
        unit_id: &str,
    ) -> Task<'_, Option<StoredExposure>>;

    /// What units gave: those behind a mark, one after the other, a unit's time before it was exposed
    /// ahead of its variants.
    fn experiment_units(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        after: Option<UnitMark>,
        limit: usize,
    ) -> Task<'_, Vec<StoredUnit>>;
}
