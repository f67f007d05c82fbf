//! Failure patterns: turns that went wrong in the same way, found together and told apart.
//!
//! Errors fall together by their type; turns of which the same was said by that, whatever was asked
//! (`complaint.rs`); all else by meaning: what was asked and what was said of the answer make one
//! direction (`blend.rs`), directions make groups (`group.rs`). Groups get labels and ids that stay
//! (`label.rs`, `name.rs`).

mod turn;
mod words;
mod signed_terms;
mod turn_vector;
mod neighbours;
mod louvain;
mod agglomeration;
mod complaints;
mod centroids;
mod vector_groups;
mod label;
mod pattern_id;
mod interval;
mod pattern;
mod discovery;
mod corrected_queries;

pub use corrected_queries::{CorrectedQuery, most_corrected};
pub use discovery::{PatternRule, failure_patterns};
pub use pattern::{
    CountedContrast, FailureDirection, FailureExample, FailurePattern, FailureTrend, Lift,
};
pub(crate) use signed_terms::gist;
pub use turn::{AnswerChange, AnsweredTotals, By, FailedTurn, FailureKind, Period};
pub(crate) use words::content_words;
pub use words::telling_words;

#[cfg(test)]
mod tests;
