//! Conversations and turns with the evidence on their answers.

use model::{ConversationId, CorrectionType, Timestamp, TurnId, UnitInterval, VerdictStatus};

use crate::reward::TurnReward;

#[derive(Clone, Debug)]
pub struct PreferenceConversation {
    pub id: ConversationId,
    pub turns: Vec<PreferenceTurn>,
}

/// A correction without a turn is a conversation of one turn, under the id of its event.
#[derive(Clone, Debug)]
pub struct PreferenceTurn {
    pub id: TurnId,
    pub question: String,
    /// Empty without an answer.
    pub answer: String,
    pub failed: bool,
    pub asked_at: Timestamp,
    /// Verdict of the next message or of a reviewer.
    pub verdict: Option<TurnVerdict>,
    pub rating: Option<TurnRating>,
    pub corrections: Vec<TurnCorrection>,
    /// True when the user requested another answer.
    pub regenerated: bool,
    /// True for turns that serve as context only and make no row.
    pub context_only: bool,
    pub arms: Vec<ServedVariant>,
    pub reward: TurnReward,
}

#[derive(Clone, Copy, Debug)]
pub struct TurnVerdict {
    pub status: VerdictStatus,
    pub correction_type: Option<CorrectionType>,
    pub confidence: UnitInterval,
}

#[derive(Clone, Copy, Debug)]
pub struct TurnRating {
    /// From 0 to 1: thumbs down is 0, five stars are 1.
    pub value: UnitInterval,
    /// 1 for a person; otherwise the confidence of the detected reaction.
    pub confidence: UnitInterval,
}

#[derive(Clone, Debug)]
pub struct TurnCorrection {
    /// Empty after an erasure.
    pub corrected: String,
    /// The corrected text, when it is not the turn's answer.
    pub original: Option<String>,
    pub when: Timestamp,
    /// 1 for a person.
    pub confidence: UnitInterval,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedVariant {
    pub experiment: String,
    /// Display name of the experiment.
    pub name: String,
    pub variant: String,
}

impl TurnRating {
    /// Four stars or more, or a mean above the middle.
    pub fn is_up(self) -> bool {
        VerdictStatus::from_rating(self.value.get()) == VerdictStatus::Accepted
    }

    /// Two stars or fewer, or a mean below the middle.
    pub fn is_down(self) -> bool {
        VerdictStatus::from_rating(self.value.get()) == VerdictStatus::Rejected
    }
}

impl PreferenceTurn {
    pub(super) fn has_answer(&self) -> bool {
        !self.failed && !self.answer.trim().is_empty()
    }

    /// The rating, or else one derived from the verdict. `None` when they disagree.
    pub(super) fn effective_rating(&self) -> Option<TurnRating> {
        let judged = self.effective_verdict();
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

    /// The verdict, or acceptance when only the rating is good. `None` when they disagree.
    pub(super) fn effective_verdict(&self) -> Option<TurnVerdict> {
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
