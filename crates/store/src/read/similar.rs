//! Reading turns whose questions are like another.

use event::{
    Scope, Timestamp, TurnId, UnitInterval, UserId, ValidationOutcome, Vector, VerdictStatus,
};

use crate::log::Task;

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

/// A turn like the question.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarTurn {
    /// Which turn.
    pub turn: TurnId,
    /// The cosine of the two questions.
    pub similarity: f64,
    /// How its answer was taken.
    pub status: VerdictStatus,
    /// The validator's score.
    pub quality: Option<UnitInterval>,
    /// What the validator said.
    pub outcome: Option<ValidationOutcome>,
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

/// Answered turns by what was asked.
pub trait SimilarReads: Send + Sync {
    /// The turns most like a question. A turn is found as soon as its answer is stored.
    fn similar(&self, query: SimilarQuery) -> Task<'_, SimilarTurns>;
}
