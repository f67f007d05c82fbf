//! Failure patterns: clusters of turns that failed in the same way.
//!
//! - Errors are grouped by error type.
//! - Turns with the same complaint are grouped by it, whatever the question was (`complaints.rs`).
//! - The rest is clustered by meaning: question and remark form one vector (`turn_vector.rs`), and
//!   vectors form groups (`vector_groups.rs`).
//!
//! Each pattern gets a label and a stable id (`label.rs`).

mod turn;
mod words;
mod signed_terms;
mod turn_vector;
mod neighbours;
mod louvain;
mod complaints;
mod vector_groups;
mod label;
mod pattern;
mod topic;
mod discovery;
mod corrected_queries;

pub use corrected_queries::{CorrectedQuery, rank_corrected_queries};
pub use discovery::{PatternRule, find_failure_patterns};
pub(crate) use pattern::wilson_interval;
pub use pattern::{
    CountedContrast, FailureDirection, FailureExample, FailurePattern, FailureTrend, Lift,
};
pub(crate) use signed_terms::extract_signed_terms;
pub use turn::{
    AnswerChange, AnsweredTotals, FailedTurn, FailureKind, FailureWindow, LiftDimension,
};
pub(crate) use words::extract_content_words;
pub use words::extract_keywords;

#[cfg(test)]
mod tests;
