//! Keeps the latest negative turns of a scan for pattern detection.

use std::collections::VecDeque;

use learn::{
    AnsweredTotals, FailureKind, FailurePattern, FailureWindow, PatternRule, extract_changes,
    summarise_correction,
};
use model::{Timestamp, VerdictStatus};

use super::conversation::ScannedTurn;
use crate::insights::failures::{AnswerSource, Complaint, NegativeTurn, find_patterns};

/// Pattern detection is quadratic, and a scan should process 20,000 turns per second.
const MAX_NEGATIVES: usize = 10_000;
const EXCERPT_BYTES: usize = 400;

#[derive(Clone, Debug, Default)]
pub(super) struct NegativeTurns {
    kept: VecDeque<NegativeTurn>,
    /// Number of all negative turns, including dropped ones.
    count: u64,
}

impl NegativeTurns {
    /// Adds a turn if it is negative.
    pub(super) fn add_turn(&mut self, turn: &ScannedTurn) {
        if let Some(negative) = to_negative(turn) {
            self.count += 1;
            self.kept.push_back(negative);
        }
    }

    /// Appends later turns and drops the oldest.
    pub(super) fn append(&mut self, later: Self) {
        self.count += later.count;
        self.kept.extend(later.kept);
        self.kept.drain(..self.kept.len().saturating_sub(MAX_NEGATIVES));
    }

    /// Takes seconds for many turns.
    pub(super) fn patterns(&mut self, totals: &AnsweredTotals) -> ScanPatterns {
        let found = find_patterns(self.kept.make_contiguous(), totals, &PatternRule::default());
        let (looked_at, patterns) = (found.count, found.patterns);
        ScanPatterns { negatives: self.count, looked_at, patterns }
    }
}

/// Failure patterns of the scanned files.
#[derive(Clone, Debug)]
pub struct ScanPatterns {
    pub negatives: u64,
    /// Number of negative turns analysed: the latest.
    pub looked_at: usize,
    /// Largest pattern first.
    pub patterns: Vec<FailurePattern>,
}

fn to_negative(turn: &ScannedTurn) -> Option<NegativeTurn> {
    let rejection = turn.verdict.as_ref().filter(|said| said.status == VerdictStatus::Rejected);
    let correction = turn.feedback.corrections.last();
    let disliked = turn.feedback.rating.is_some_and(|rating| rating.is_down());
    let error_type = turn.failure.error_type;
    let kind = match (correction, disliked, rejection, error_type) {
        (Some(_), ..) => FailureKind::Correction,
        (None, true, ..) => FailureKind::Rating,
        (None, false, Some(_), _) => FailureKind::Rejected,
        (None, false, None, Some(_)) => FailureKind::Error,
        (None, false, None, None) => return None,
    };
    if turn.question.trim().is_empty() {
        return None;
    }
    let pair = correction.map(|given| {
        let original = given.original.as_deref().unwrap_or(&turn.answer);
        (original, given.corrected.as_str())
    });
    let asked = pair.map(|(original, corrected)| summarise_correction(original, corrected));
    let explanation = correction.and_then(|given| given.explanation.as_deref());
    let said = [explanation, turn.feedback.comment.as_deref()]
        .into_iter()
        .chain([
            rejection.and_then(|said| said.user_said.as_deref()),
            turn.feedback.rated_because.as_deref().filter(|_| disliked),
            asked.as_deref(),
        ])
        .flatten()
        .find(|said| !said.trim().is_empty())
        .map(cut_excerpt);
    Some(NegativeTurn {
        turn: turn.id.to_string(),
        question: cut_excerpt(&turn.question),
        complaint: Complaint {
            kind,
            remark: said,
            contrast: rejection.and_then(|said| said.contrast.clone()),
        },
        error_type: error_type
            .filter(|_| kind == FailureKind::Error)
            .map(|kind| kind.as_word().to_owned()),
        source: AnswerSource { model: turn.model.clone(), ..AnswerSource::default() },
        // Only suggestions need reporters, and a scan makes none.
        reporters: Vec::new(),
        changes: pair
            .map_or(Vec::new(), |(original, corrected)| extract_changes(original, corrected)),
        user: None,
        conversation: None,
        corrections: turn.feedback.corrections.len(),
        at: turn.asked_at.unwrap_or(Timestamp::from_micros(0)),
        period: FailureWindow::Current,
    })
}

pub(super) fn cut_excerpt(text: &str) -> String {
    text[..text.floor_char_boundary(EXCERPT_BYTES)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negative(turn: usize) -> NegativeTurn {
        NegativeTurn {
            turn: turn.to_string(),
            question: "why?".to_owned(),
            complaint: Complaint { kind: FailureKind::Rejected, remark: None, contrast: None },
            error_type: None,
            source: AnswerSource::default(),
            reporters: Vec::new(),
            changes: Vec::new(),
            user: None,
            conversation: None,
            corrections: 0,
            at: Timestamp::from_micros(0),
            period: FailureWindow::Current,
        }
    }

    #[test]
    fn all_negatives_are_counted_and_the_latest_kept() {
        let mut all = NegativeTurns::default();
        for batch in 0..25 {
            let kept = (0..500).map(|n| negative(batch * 500 + n)).collect();
            all.append(NegativeTurns { kept, count: 500 });
        }
        assert_eq!((all.count, all.kept.len()), (12_500, MAX_NEGATIVES));
        assert_eq!(
            (all.kept[0].turn.as_str(), all.kept[MAX_NEGATIVES - 1].turn.as_str()),
            ("2500", "12499")
        );
    }

    #[test]
    fn excerpts_are_cut_at_character_boundaries() {
        let text = "é".repeat(EXCERPT_BYTES);
        assert_eq!(cut_excerpt(&text).len(), EXCERPT_BYTES);
        assert_eq!(cut_excerpt(&format!("a{text}")).len(), EXCERPT_BYTES - 1);
    }
}
