//! The signals of an answer by itself.

use model::{Failure, Pace};

/// What an answer shows by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Signals {
    /// Whether it failed.
    pub failure: Failure,
    /// How long it took, if that is known.
    pub pace: Option<Pace>,
}
