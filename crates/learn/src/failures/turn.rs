//! What goes in: turns that went wrong, and how many turns there were.

use model::Contrast;

/// How a turn showed that it went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// The next message rejected the answer.
    Rejected,
    /// Somebody said that it is not ok.
    NotOk,
    /// It was rated badly.
    Rating,
    /// Somebody wrote the answer it should have been.
    Correction,
    /// It ended in an error.
    Error,
}

/// Which of the two windows a turn belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    /// The window that is looked at.
    Now,
    /// The one before it, of the same length.
    Before,
}

/// Something that a correction changed in an answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnswerChange {
    /// The columns or the table that it is about; may be empty.
    pub about: String,
    /// What was put in the place of what, the same for everybody who changed the same.
    pub text: String,
}

/// A turn that went wrong.
#[derive(Clone, Copy, Debug)]
pub struct FailedTurn<'a> {
    /// Its id; the same id twice is one turn.
    pub turn_id: &'a str,
    /// What was asked.
    pub question: &'a str,
    /// The direction of the question. All vectors of a call are of one model; one of another
    /// length counts as missing.
    pub question_vector: Option<&'a [f32]>,
    /// What was said of the answer: the next message, the comment, the explanation of a
    /// correction or, without one, [`asked_for`](crate::asked_for) of its two texts.
    pub said: Option<&'a str>,
    /// The direction of what was said.
    pub said_vector: Option<&'a [f32]>,
    /// What was wanted instead of what.
    pub contrast: Option<&'a Contrast>,
    /// What a correction changed, by [`changes_of`](crate::changes_of).
    pub changes: &'a [AnswerChange],
    /// How it went wrong.
    pub kind: FailureKind,
    /// The type of its error.
    pub error_type: Option<&'a str>,
    /// The model that answered.
    pub model: Option<&'a str>,
    /// The prompt it was answered with.
    pub prompt: Option<&'a str>,
    /// The strategy it was answered by.
    pub strategy: Option<&'a str>,
    /// When it was asked, in milliseconds.
    pub when_ms: i64,
    /// Which window it is of.
    pub period: Period,
}

/// What a pattern can be frequent by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The model that answered.
    Model,
    /// The prompt.
    Prompt,
    /// The strategy.
    Strategy,
}

impl By {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 3] = [Self::Model, Self::Prompt, Self::Strategy];

    /// The word on the wire.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Prompt => "prompt",
            Self::Strategy => "strategy",
        }
    }

    /// What a turn has here.
    pub(super) fn of<'a>(self, turn: &FailedTurn<'a>) -> Option<&'a str> {
        match self {
            Self::Model => turn.model,
            Self::Prompt => turn.prompt,
            Self::Strategy => turn.strategy,
        }
    }
}

/// How many turns were answered, wrong or not.
#[derive(Clone, Debug, Default)]
pub struct AnsweredTotals {
    /// In the window.
    pub now: u64,
    /// In the window before.
    pub before: u64,
    /// In the window, by what answered them.
    pub by: Vec<(By, String, u64)>,
}
