//! Applies the opinion of a chat model to a verdict that is uncertain.

use std::ops::Range;

use model::{Contrast, CorrectionType, Evidence, UnitInterval, Verdict, VerdictStatus};

/// Rule name of a verdict that follows an opinion.
const OPINION_RULE: &str = "llm";
/// A chat model's confidence is not calibrated, so an opinion counts at most this much.
const MAX_CONFIDENCE: f64 = 0.9;
const MIN_CONFIDENCE: f64 = 0.5;

/// A chat model's judgement of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    pub status: VerdictStatus,
    pub confidence: UnitInterval,
    /// Bytes of the message that show it.
    pub quote: Range<usize>,
    /// The wanted thing, in words of the message.
    pub wants: Option<String>,
}

/// The verdict with the opinion's status, confidence and evidence.
pub fn apply_opinion(verdict: Verdict, message: &str, opinion: &Opinion) -> Verdict {
    let confidence = opinion.confidence.get().clamp(MIN_CONFIDENCE, MAX_CONFIDENCE);
    let is_rejected = opinion.status == VerdictStatus::Rejected;
    let dissatisfied = match opinion.status {
        VerdictStatus::Rejected => UnitInterval::new(confidence),
        VerdictStatus::Accepted => UnitInterval::new(1.0 - confidence),
        VerdictStatus::Neutral => verdict.dissatisfied,
    };
    let evidence = Evidence {
        start: opinion.quote.start,
        end: opinion.quote.end,
        rule: OPINION_RULE.to_owned(),
    };
    let wanted =
        opinion.wants.clone().map(|wants| Contrast { wants: Some(wants), instead_of: None });
    Verdict {
        status: opinion.status,
        confidence: UnitInterval::new(confidence).unwrap_or(UnitInterval::ZERO),
        correction_type: is_rejected
            .then(|| verdict.correction_type.unwrap_or(CorrectionType::Explicit)),
        user_said: is_rejected.then(|| message.to_owned()),
        evidence: vec![evidence],
        contrast: if is_rejected { verdict.contrast.or(wanted) } else { None },
        rule: OPINION_RULE.to_owned(),
        dissatisfied,
        behaviour: verdict.behaviour.filter(|_| !is_rejected),
    }
}
