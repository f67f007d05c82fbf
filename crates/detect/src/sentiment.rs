//! Sentiment of a comment, by the verdict model without any context.

use model::{Sentiment, UnitInterval, VerdictStatus};

use crate::phrases::Cue;
use crate::references::is_negated;
use crate::utterance::Utterance;
use crate::verdict::{Exchange, VerdictRule, detect_verdict};

const MIN_DISSATISFACTION: f64 = 0.5;

/// Returns the sentiment of a comment and its confidence. A comment that only continues with
/// another topic is neutral.
pub fn detect_sentiment(rule: &VerdictRule, comment: &Utterance) -> (Sentiment, UnitInterval) {
    let verdict = detect_verdict(rule, &Exchange::new(comment));
    let displeased = verdict.dissatisfied.filter(|p| p.get() >= MIN_DISSATISFACTION);
    let pleased = || {
        let is_good = |cue| matches!(cue, Cue::Praise | Cue::Thanks | Cue::Sound);
        comment.hits.iter().any(|hit| is_good(hit.cue) && !is_negated(comment, hit))
    };
    match (verdict.status, displeased) {
        (VerdictStatus::Rejected, _) => (Sentiment::Negative, verdict.confidence),
        (VerdictStatus::Accepted | VerdictStatus::Neutral, Some(sure)) => {
            (Sentiment::Negative, sure)
        }
        (VerdictStatus::Accepted, None) if pleased() => (Sentiment::Positive, verdict.confidence),
        (VerdictStatus::Neutral, None) => (Sentiment::Neutral, verdict.confidence),
        (VerdictStatus::Accepted, None) => (
            Sentiment::Neutral,
            UnitInterval::new(MIN_DISSATISFACTION).unwrap_or(UnitInterval::ZERO),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn praise_is_positive_and_complaints_are_negative() {
        use Sentiment::{Negative, Neutral, Positive};
        let rows = [
            ("Great answer, exactly what I needed", Positive),
            ("very useful, thanks", Positive),
            ("good", Positive),
            ("Sehr hilfreich, danke!", Positive),
            ("The chart should show percentages, not raw numbers", Negative),
            ("The total is wrong, it counts cancelled orders", Negative),
            ("Not helpful at all", Negative),
            ("too slow", Negative),
            ("Great, but the last figure is wrong", Negative),
            ("Falsch, das stimmt nicht", Negative),
            ("Where does this number come from?", Neutral),
            ("Please add a link to the docs", Neutral),
            ("Used for the quarterly report", Neutral),
            ("ok", Neutral),
            ("", Neutral),
        ];
        let rule = VerdictRule::default();
        for (comment, expected) in rows {
            let (found, confidence) = detect_sentiment(&rule, &Utterance::read(comment));
            assert_eq!(found, expected, "{comment}: {confidence:?}");
        }
    }
}
