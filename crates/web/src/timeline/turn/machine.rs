//! What the machine thinks of an answer, and why.

use engine::TurnView;
use model::{CorrectionType, VerdictStatus};

use crate::conversations::status;
use crate::filter::encoded;
use crate::marked::{Said, words};

/// What the machine thinks of the answer, and why.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its verdict: a class and words.
    pub status: (&'static str, &'static str),
    /// How sure, as a percentage.
    pub sure: String,
    /// The same as a whole number from 0 to 100, for the meter.
    pub percent: u8,
    /// In a sentence.
    pub why: String,
    /// The words that decided, marked.
    pub said: Option<Said>,
    /// Where they stand, if that turn is on the page.
    pub where_said: Option<String>,
    /// What was wanted, and instead of what.
    pub contrast: Option<(Option<String>, Option<String>)>,
    /// Which detector.
    pub detector: String,
}

pub(super) fn machine(view: &TurnView, turns: &[TurnView]) -> Option<Machine> {
    let (found, _) = view.verdict.as_ref()?;
    let verdict = &found.verdict;
    let said_in = turns.iter().find(|other| other.exchange.turn == found.detected_in);
    let message = said_in.map(|other| other.exchange.opening.text.as_str());
    let message = message.or(verdict.user_said.as_deref()).filter(|text| !text.is_empty());
    let sure = verdict.confidence.get();
    Some(Machine {
        status: status(verdict.status),
        sure: format!("{:.0}%", sure * 100.0),
        percent: (sure * 100.0).round() as u8,
        why: why(verdict.status, verdict.correction_type, &verdict.rule, found.moved_on),
        said: message.map(|message| Said::marked(message, &verdict.evidence)),
        where_said: said_in.map(|other| encoded(other.exchange.turn.as_str())),
        contrast: verdict
            .contrast
            .as_ref()
            .map(|contrast| (contrast.wants.clone(), contrast.instead_of.clone())),
        detector: found.detector.clone(),
    })
}

fn why(status: VerdictStatus, how: Option<CorrectionType>, rule: &str, moved_on: bool) -> String {
    let base = match (status, how) {
        (VerdictStatus::Rejected, Some(CorrectionType::Explicit)) => "The next message rejects it",
        (VerdictStatus::Rejected, Some(CorrectionType::Rephrased)) => {
            "The next message asks the same in other words"
        }
        (VerdictStatus::Rejected, Some(CorrectionType::Abandonment)) => {
            "The next message gives up on it"
        }
        (VerdictStatus::Rejected, None) => "The next message sounds dissatisfied",
        (VerdictStatus::Accepted, _) if moved_on => "The user went on to something else",
        (VerdictStatus::Accepted, _) => "The next message builds on it or accepts it",
        (VerdictStatus::Neutral, _) => "The next message does not tell",
    };
    match rule {
        "" => base.to_owned(),
        "model" => format!("{base} (by the learnt model)"),
        rule => format!("{base} (rule: {})", words(rule)),
    }
}
