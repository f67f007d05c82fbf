//! Keyword baseline (mode `seed`), for comparison.
//!
//! Matches substrings, the first match wins, and compares questions by cosine.

use model::{CorrectionType, VerdictStatus};

use super::{Exchange, RuleFinding};

const REJECTION_KEYWORDS: &str = "no,|no i meant|not what i|i meant|i want|i need|that's wrong|you misunderstood|\
    try again|that doesn't help|not helpful|not useful|not what i need|wrong|\
    that's not what i meant|actually";
const ABANDONMENT_KEYWORDS: &str = "never mind|forget that|let me rephrase|start over|forget it";
const CONTINUATION_KEYWORDS: &str = "tell me more|can you explain|what about the|which one|compare|between|and|also|what if|\
    i'll go with|thanks";

pub(crate) fn judge_by_keywords(exchange: &Exchange<'_>) -> RuleFinding {
    let message = exchange.message.original().to_lowercase();
    let message = message.trim();
    let cosine = exchange
        .question
        .and_then(|question| question.vector.cosine(&exchange.message.vector))
        .map_or(0.0, f64::from);
    let same_intent = exchange.intent.zip(exchange.previous_intent).is_none_or(|(a, b)| a == b);
    if message == "no" || REJECTION_KEYWORDS.split('|').any(|pattern| message.contains(pattern)) {
        return baseline_finding(
            VerdictStatus::Rejected,
            0.9,
            Some(CorrectionType::Explicit),
            "seed_explicit",
        );
    }
    if cosine > 0.8 && same_intent {
        return baseline_finding(
            VerdictStatus::Rejected,
            cosine,
            Some(CorrectionType::Rephrased),
            "seed_rephrased",
        );
    }
    if ABANDONMENT_KEYWORDS.split('|').any(|pattern| message.contains(pattern)) {
        return baseline_finding(
            VerdictStatus::Rejected,
            0.85,
            Some(CorrectionType::Abandonment),
            "seed_abandonment",
        );
    }
    if CONTINUATION_KEYWORDS.split('|').any(|pattern| message.starts_with(pattern)) {
        return baseline_finding(VerdictStatus::Accepted, 0.7, None, "seed_continuation");
    }
    baseline_finding(VerdictStatus::Neutral, 0.5, None, "seed_default")
}

fn baseline_finding(
    status: VerdictStatus,
    confidence: f64,
    correction_type: Option<CorrectionType>,
    rule: &'static str,
) -> RuleFinding {
    let confidence = confidence.clamp(0.0, 1.0);
    RuleFinding { status, confidence, correction_type, rule, evidence: Vec::new(), behaviour: None }
}
