//! Signals detected in an answer.

use model::{Failure, Pace};

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSignals {
    pub failure: Failure,
    /// `None` when the latency is unknown.
    pub pace: Option<Pace>,
}
