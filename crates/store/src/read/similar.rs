//! Reading turns whose questions are like another.

use model::{Scope, Timestamp, UnitInterval, UserId, Vector, VerdictStatus};

/// What is looked for.
#[derive(Clone, Debug)]
pub struct SimilarQuery {
    /// Whose turns.
    pub scope: Scope,
    /// The direction of the question.
    pub vector: Vector,
    /// At most so many of each status.
    pub most: usize,
    /// None less similar than this.
    pub floor: f32,
    /// Only this user's.
    pub user: Option<UserId>,
    /// Only of this intent.
    pub intent: Option<String>,
}

/// The store's own number for a turn: good for asking it more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TurnNumber(pub(crate) i64);

/// A turn like the question, as the index in memory knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarTurn {
    /// Which turn.
    pub number: TurnNumber,
    /// The cosine of the two questions.
    pub similarity: f64,
    /// How its answer was taken.
    pub status: VerdictStatus,
    /// The validator's score, to four digits or so.
    pub quality: Option<UnitInterval>,
    /// The conversation went silent after it.
    pub silent: bool,
    /// When it was asked.
    pub ts: Timestamp,
    /// Whether it says how the application went about it.
    pub has_strategy: bool,
}

/// What was found: of each status the most similar, the best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimilarTurns {
    /// All of them, by status and then by likeness.
    pub turns: Vec<SimilarTurn>,
    /// Whether every turn was compared, and not the most promising ones only.
    pub exact: bool,
    /// Whether every turn that is stored could be looked at. Not so soon after a start.
    pub complete: bool,
}
