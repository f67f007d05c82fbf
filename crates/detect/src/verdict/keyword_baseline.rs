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
    let contains = |keywords: &str| keywords.split('|').any(|keyword| message.contains(keyword));
    let (confidence, correction_type, rule) = if message == "no" || contains(REJECTION_KEYWORDS) {
        (0.9, CorrectionType::Explicit, "seed_explicit")
    } else if cosine > 0.8 && same_intent {
        (cosine, CorrectionType::Rephrased, "seed_rephrased")
    } else if contains(ABANDONMENT_KEYWORDS) {
        (0.85, CorrectionType::Abandonment, "seed_abandonment")
    } else if CONTINUATION_KEYWORDS.split('|').any(|keyword| message.starts_with(keyword)) {
        return RuleFinding::new(VerdictStatus::Accepted, 0.7, "seed_continuation", Vec::new());
    } else {
        return RuleFinding::new(VerdictStatus::Neutral, 0.5, "seed_default", Vec::new());
    };
    RuleFinding::rejected(correction_type, confidence.clamp(0.0, 1.0), rule, Vec::new())
}
