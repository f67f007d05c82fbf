//! What is known of a conversation's turns, as far as it says which answers are better.

use model::{ConversationId, CorrectionType, Timestamp, TurnId, UnitInterval, VerdictStatus};

/// A conversation with its turns in order.
#[derive(Clone, Debug)]
pub struct PreferenceConversation {
    /// Which.
    pub id: ConversationId,
    /// In the order in which they were asked.
    pub turns: Vec<PreferenceTurn>,
}

/// One question, its answer, and what was said and done about it. A correction that belongs to no
/// turn is a conversation of one, under the id of its event.
#[derive(Clone, Debug)]
pub struct PreferenceTurn {
    /// Which.
    pub id: TurnId,
    /// What was asked.
    pub question: String,
    /// What was answered; empty when nothing was.
    pub answer: String,
    /// The answer failed by itself.
    pub failed: bool,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// What the next message said of the answer, or a reviewer.
    pub verdict: Option<TurnVerdict>,
    /// How the answer was rated.
    pub rating: Option<TurnRating>,
    /// What people wrote instead of it.
    pub corrections: Vec<TurnCorrection>,
    /// The user had it answered again.
    pub regenerated: bool,
    /// It makes no row by itself: only what came after it is asked for.
    pub context_only: bool,
    /// The variants of experiments that answered it.
    pub arms: Vec<ServedVariant>,
}

/// What a message said of the answer before it.
#[derive(Clone, Copy, Debug)]
pub struct TurnVerdict {
    /// Rejected, accepted or neutral.
    pub status: VerdictStatus,
    /// How it was rejected.
    pub correction_type: Option<CorrectionType>,
    /// How sure.
    pub confidence: UnitInterval,
}

/// How an answer was rated.
#[derive(Clone, Copy, Debug)]
pub struct TurnRating {
    /// From 0 to 1: a thumb down is 0, five stars are 1.
    pub value: UnitInterval,
    /// 1 for a person; the confidence of a machine's reaction.
    pub confidence: UnitInterval,
}

/// A better answer that somebody wrote.
#[derive(Clone, Debug)]
pub struct TurnCorrection {
    /// What should have been answered; empty when it was erased.
    pub corrected: String,
    /// What it corrects, when that is not the turn's answer.
    pub original: Option<String>,
    /// When it was given.
    pub when: Timestamp,
    /// 1 for a person.
    pub confidence: UnitInterval,
}

/// An experiment's variant that served a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedVariant {
    /// The experiment's id.
    pub experiment: String,
    /// What people call it.
    pub name: String,
    /// Which of its variants.
    pub variant: String,
}

impl TurnRating {
    /// As good as four stars.
    pub fn is_up(self) -> bool {
        self.value.get() >= 0.7
    }

    /// As bad as two stars.
    pub fn is_down(self) -> bool {
        self.value.get() <= 0.3
    }
}

impl PreferenceTurn {
    /// Whether there is an answer to compare.
    pub(super) fn has_answer(&self) -> bool {
        !self.failed && !self.answer.trim().is_empty()
    }

    /// How good the answer is and how sure that is: its rating, else what the next message says.
    /// Nothing where the two disagree, or where neither says anything.
    pub(super) fn worth(&self) -> Option<TurnRating> {
        let judged = self.judged();
        if let Some(rating) = self.rating {
            let is_contested = judged.is_none() && self.verdict.is_some();
            return Some(rating).filter(|_| !is_contested);
        }
        let judged = judged?;
        let value = match judged.status {
            VerdictStatus::Accepted => UnitInterval::ONE,
            VerdictStatus::Rejected => UnitInterval::ZERO,
            VerdictStatus::Neutral => return None,
        };
        Some(TurnRating { value, confidence: judged.confidence })
    }

    /// What was said of the answer: a rating stands above what the next message seems to say, and
    /// where the two disagree nothing is known.
    pub(super) fn judged(&self) -> Option<TurnVerdict> {
        use VerdictStatus::{Accepted, Neutral, Rejected};
        let Some(rating) = self.rating else { return self.verdict };
        match self.verdict.map(|verdict| verdict.status) {
            Some(Accepted) if rating.is_down() => None,
            Some(Rejected) if rating.is_up() => None,
            Some(Accepted | Rejected) => self.verdict,
            Some(Neutral) | None if rating.is_up() => Some(TurnVerdict {
                status: Accepted,
                correction_type: None,
                confidence: rating.confidence,
            }),
            Some(Neutral) | None => self.verdict,
        }
    }
}
