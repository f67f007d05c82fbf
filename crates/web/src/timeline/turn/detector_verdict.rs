//! The detector's verdict on an answer, with its explanation.

use engine::TurnView;
use model::{CorrectionType, VerdictStatus};

use crate::conversations::status_chip;
use crate::filter::encode_url;
use crate::highlight::{HighlightedText, humanize_name};

#[derive(Clone, Debug)]
pub struct DetectorVerdict {
    pub status: (&'static str, &'static str),
    pub confidence: String,
    pub percent: u8,
    pub explanation: String,
    pub message: Option<HighlightedText>,
    pub message_turn: Option<String>,
    pub contrast: Option<(Option<String>, Option<String>)>,
    pub detector: String,
}

pub(super) fn read_verdict(view: &TurnView, turns: &[TurnView]) -> Option<DetectorVerdict> {
    let (found, _) = view.verdict.as_ref()?;
    let verdict = &found.verdict;
    let source_turn = turns.iter().find(|other| other.exchange.turn == found.detected_in);
    let message = source_turn.map(|other| other.exchange.opening.text.as_str());
    let message = message.or(verdict.user_said.as_deref()).filter(|text| !text.is_empty());
    let confidence = verdict.confidence.get();
    Some(DetectorVerdict {
        status: status_chip(verdict.status),
        confidence: format!("{:.0}%", confidence * 100.0),
        percent: (confidence * 100.0).round() as u8,
        explanation: explain_verdict(
            verdict.status,
            verdict.correction_type,
            &verdict.rule,
            found.moved_on,
        ),
        message: message.map(|message| HighlightedText::with_evidence(message, &verdict.evidence)),
        message_turn: source_turn.map(|other| encode_url(other.exchange.turn.as_str())),
        contrast: verdict
            .contrast
            .as_ref()
            .map(|contrast| (contrast.wants.clone(), contrast.instead_of.clone())),
        detector: found.detector.clone(),
    })
}

fn explain_verdict(
    status: VerdictStatus,
    how: Option<CorrectionType>,
    rule: &str,
    moved_on: bool,
) -> String {
    let base = match (status, how) {
        (VerdictStatus::Rejected, Some(CorrectionType::Explicit)) => {
            "The next message rejects the answer"
        }
        (VerdictStatus::Rejected, Some(CorrectionType::Rephrased)) => {
            "The next message rephrases the question"
        }
        (VerdictStatus::Rejected, Some(CorrectionType::Abandonment)) => {
            "The next message gives up on the question"
        }
        (VerdictStatus::Rejected, None) => "The next message expresses dissatisfaction",
        (VerdictStatus::Accepted, _) if moved_on => "The user moved on to another topic",
        (VerdictStatus::Accepted, _) => "The next message accepts the answer or builds on it",
        (VerdictStatus::Neutral, _) => "The next message is inconclusive",
    };
    match rule {
        "" => base.to_owned(),
        "model" => format!("{base} (learned model)"),
        rule => format!("{base} (rule: {})", humanize_name(rule)),
    }
}
