//! One opinion per message: a verdict and a retry about the same turn must agree.
//!
//! | verdict | retry | result |
//! |---|---|---|
//! | accepted, confidence below 0.70 | dissatisfied | the verdict becomes neutral |
//! | accepted, 0.70 or more | dissatisfied | the retry becomes exploratory |
//! | rejected | exploratory | the retry becomes dissatisfied |
//!
//! The retry of a stored message does not change. A later acceptance becomes neutral if the retry is
//! dissatisfied, whatever its confidence.

use learn::is_sure_acceptance;
use model::{Retry, RetryIntent, UnitInterval, Verdict, VerdictStatus};

/// Confidence of a neutral verdict without evidence.
const NEUTRAL_CONFIDENCE: f64 = 0.5;
/// Rule name of a verdict that a retry made neutral.
const RETRY_RULE: &str = "retry";

/// Makes the verdict and the retry of one message about the same turn agree.
pub(super) fn reconcile_signals(verdict: &mut Verdict, retry: &mut Retry) {
    match verdict.status {
        VerdictStatus::Neutral => {}
        VerdictStatus::Rejected => retry.intent = RetryIntent::Dissatisfied,
        VerdictStatus::Accepted if is_sure_acceptance(verdict.status, verdict.confidence) => {
            retry.intent = RetryIntent::Exploratory;
        }
        VerdictStatus::Accepted => reconcile_with_intent(verdict, retry.intent),
    }
}

/// Makes the verdict agree with a retry that is stored and cannot change: an acceptance becomes
/// neutral when the retry is dissatisfied.
pub(super) fn reconcile_with_intent(verdict: &mut Verdict, intent: RetryIntent) {
    match (verdict.status, intent) {
        (VerdictStatus::Accepted, RetryIntent::Dissatisfied) => {
            verdict.status = VerdictStatus::Neutral;
            let neutral = UnitInterval::new(NEUTRAL_CONFIDENCE);
            verdict.confidence = neutral.unwrap_or(verdict.confidence);
            verdict.evidence = Vec::new();
            RETRY_RULE.clone_into(&mut verdict.rule);
        }
        (
            VerdictStatus::Accepted | VerdictStatus::Neutral | VerdictStatus::Rejected,
            RetryIntent::Exploratory | RetryIntent::Dissatisfied,
        ) => {}
    }
}

#[cfg(test)]
mod tests {
    use model::TurnId;

    use super::*;
    use RetryIntent::{Dissatisfied, Exploratory};
    use VerdictStatus::{Accepted, Neutral, Rejected};

    #[test]
    fn verdict_and_retry_agree() {
        let rows = [
            ((Accepted, 0.69, Dissatisfied), (Neutral, 0.5, Dissatisfied)),
            ((Accepted, 0.69, Exploratory), (Accepted, 0.69, Exploratory)),
            ((Accepted, 0.7, Dissatisfied), (Accepted, 0.7, Exploratory)),
            ((Rejected, 0.9, Exploratory), (Rejected, 0.9, Dissatisfied)),
            ((Neutral, 0.5, Exploratory), (Neutral, 0.5, Exploratory)),
        ];
        for (row, expected) in rows {
            let (status, confidence, intent) = row;
            let mut verdict = Verdict {
                status,
                confidence: UnitInterval::new(confidence).unwrap(),
                correction_type: None,
                user_said: None,
                evidence: Vec::new(),
                contrast: None,
                rule: "test".to_owned(),
                dissatisfied: None,
                behaviour: None,
            };
            let mut retry = Retry {
                original_turn_id: TurnId::new("t1").unwrap(),
                similarity: UnitInterval::ONE,
                delay_seconds: None,
                intent,
            };
            reconcile_signals(&mut verdict, &mut retry);
            assert_eq!((verdict.status, verdict.confidence.get(), retry.intent), expected);
        }
    }
}
