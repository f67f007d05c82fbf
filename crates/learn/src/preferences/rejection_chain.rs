//! Chains of rejected answers that end in an accepted one.

use model::{CorrectionType, UnitInterval, VerdictStatus};

#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedTurn<'a> {
    pub(super) question: &'a str,
    pub(super) answer: &'a str,
    /// `None` when no message followed.
    pub(super) status: Option<VerdictStatus>,
    pub(super) correction_type: Option<CorrectionType>,
    pub(super) confidence: UnitInterval,
    /// True when the answer itself was an error.
    pub(super) failed: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChainPair {
    pub(super) worse: usize,
    pub(super) better: usize,
    pub(super) prompt: String,
    /// The lower of the two confidences.
    pub(super) confidence: UnitInterval,
}

/// Below this, the user may have moved on without accepting.
const MIN_ACCEPTANCE_CONFIDENCE: f64 = 0.7;

/// Pairs each rejected answer of a chain with the accepted one. An explicit complaint is added to
/// the prompt, because without it nothing favours the better answer.
pub(super) fn find_chain_pairs(turns: &[JudgedTurn<'_>]) -> Vec<ChainPair> {
    let mut pairs = Vec::new();
    let mut chain = 0..0;
    for (at, turn) in turns.iter().enumerate() {
        match turn.status {
            Some(VerdictStatus::Rejected)
                if turn.correction_type != Some(CorrectionType::Abandonment) =>
            {
                chain = if chain.is_empty() { at..at + 1 } else { chain.start..at + 1 };
            }
            Some(VerdictStatus::Accepted)
                if !turn.failed && turn.confidence.get() >= MIN_ACCEPTANCE_CONFIDENCE =>
            {
                pairs.extend(chain.filter_map(|worse| build_chain_pair(turns, worse, at)));
                chain = 0..0;
            }
            Some(_) | None => chain = 0..0,
        }
    }
    pairs
}

fn build_chain_pair(turns: &[JudgedTurn<'_>], worse: usize, better: usize) -> Option<ChainPair> {
    let (bad, good) = (&turns[worse], &turns[better]);
    let (chosen, rejected) = (good.answer.trim(), bad.answer.trim());
    if chosen.is_empty() || rejected.is_empty() || chosen == rejected {
        return None;
    }
    let mut prompt = bad.question.to_owned();
    for at in worse..better {
        if turns[at].correction_type != Some(CorrectionType::Rephrased) {
            prompt.push_str("\n\n");
            prompt.push_str(turns[at + 1].question);
        }
    }
    let weaker = bad.confidence.get() < good.confidence.get();
    let confidence = if weaker { bad.confidence } else { good.confidence };
    Some(ChainPair { worse, better, prompt, confidence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use CorrectionType::{Abandonment, Explicit, Rephrased};
    use VerdictStatus::{Accepted, Neutral, Rejected};

    fn turn<'a>(
        question: &'a str,
        answer: &'a str,
        status: Option<VerdictStatus>,
        correction_type: Option<CorrectionType>,
    ) -> JudgedTurn<'a> {
        let confidence = UnitInterval::new(0.9).unwrap();
        JudgedTurn { question, answer, status, correction_type, confidence, failed: false }
    }

    #[test]
    fn rephrased_then_accepted_question_makes_a_pair() {
        let turns = [
            turn("q1", "bad", Some(Rejected), Some(Rephrased)),
            turn("q1 again", "good", Some(Accepted), None),
        ];
        let pairs = find_chain_pairs(&turns);
        assert_eq!(pairs.len(), 1);
        assert_eq!((pairs[0].worse, pairs[0].better, pairs[0].prompt.as_str()), (0, 1, "q1"));
    }

    #[test]
    fn chain_prompt_includes_the_complaint() {
        let turns = [
            turn("laptops", "business", Some(Rejected), Some(Explicit)),
            turn("no, gaming", "gaming", Some(Accepted), None),
        ];
        assert_eq!(find_chain_pairs(&turns)[0].prompt, "laptops\n\nno, gaming");
    }

    #[test]
    fn every_rejected_answer_of_a_chain_is_paired() {
        let turns = [
            turn("laptops", "desks", Some(Rejected), Some(Rephrased)),
            turn("notebooks", "business", Some(Rejected), Some(Explicit)),
            turn("no, gaming", "gaming", Some(Accepted), None),
            turn("next", "other", Some(Accepted), None),
        ];
        let prompts: Vec<String> = find_chain_pairs(&turns).into_iter().map(|p| p.prompt).collect();
        assert_eq!(prompts, ["laptops\n\nno, gaming", "notebooks\n\nno, gaming"]);
    }

    #[test]
    fn chain_without_a_confident_acceptance_makes_no_pair() {
        let unsure = |question, answer| JudgedTurn {
            confidence: UnitInterval::new(0.69).unwrap(),
            ..turn(question, answer, Some(Accepted), None)
        };
        let failed = JudgedTurn { failed: true, ..turn("q2", "a", Some(Accepted), None) };
        let bad = turn("q", "bad", Some(Rejected), Some(Explicit));
        let rows: [&[JudgedTurn<'_>]; 6] = [
            &[bad, turn("q2", "worse", Some(Rejected), Some(Explicit))],
            &[bad, turn("q2", "a", Some(Neutral), None), turn("q3", "b", Some(Accepted), None)],
            &[
                turn("q", "bad", Some(Rejected), Some(Abandonment)),
                turn("q2", "a", Some(Accepted), None),
            ],
            &[
                turn("q", "same", Some(Rejected), Some(Rephrased)),
                turn("q", "same", Some(Accepted), None),
            ],
            &[bad, unsure("q2", "a")],
            &[bad, failed],
        ];
        for turns in rows {
            assert!(find_chain_pairs(turns).is_empty(), "{turns:?}");
        }
    }
}
