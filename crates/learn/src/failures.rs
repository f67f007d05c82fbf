//! Failure patterns: turns that went wrong in the same way, found together and told apart.
//!
//! Errors fall together by their type; turns of which the same was said by that, whatever was asked
//! (`complaint.rs`); all else by meaning: what was asked and what was said of the answer make one
//! direction (`blend.rs`), directions make groups (`group.rs`). Groups get labels and ids that stay
//! (`label.rs`, `name.rs`).

mod turn;
mod words;
mod gist;
mod clip;
mod blend;
mod neighbours;
mod communities;
mod absorb;
mod complaint;
mod centres;
mod group;
mod label;
mod name;
mod interval;
mod pattern;
mod find;
mod corrected;

pub use corrected::{CorrectedQuery, most_corrected};
pub use find::{PatternRule, failure_patterns};
pub(crate) use gist::gist;
pub use pattern::{
    CountedContrast, FailureDirection, FailureExample, FailurePattern, FailureTrend, Lift,
};
pub use turn::{AnswerChange, AnsweredTotals, By, FailedTurn, FailureKind, Period};
pub(crate) use words::content_words;
pub use words::telling_words;

#[cfg(test)]
mod tests;
