//! Turns signals into better choices. Pure: state in, state out, randomness passed in.

mod pairs;
mod streak;
mod strategy;
mod planner;

pub use pairs::{JudgedTurn, PairSource, PreferencePair, pairs_of};
pub use planner::{
    JudgedPrevious, PastExchange, PlannerContext, PlannerInput, Preferences, RepeatedCorrection,
    planner_context,
};
pub use strategy::{RankMode, StrategyCandidate, rank, ranking_score, satisfaction};
pub use streak::rejection_streak;
