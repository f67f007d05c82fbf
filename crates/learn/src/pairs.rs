//! Preference pairs from what users did: an answer they rejected, and the one they then kept.

use event::{CorrectionType, UnitInterval, VerdictStatus};

/// A turn of a conversation and what the next message said of its answer.
#[derive(Clone, Copy, Debug)]
pub struct JudgedTurn<'a> {
    /// What was asked.
    pub question: &'a str,
    /// What was answered.
    pub answer: &'a str,
    /// What the next message said of it; `None` when none came.
    pub status: Option<VerdictStatus>,
    /// How it was rejected.
    pub correction_type: Option<CorrectionType>,
    /// How sure.
    pub confidence: UnitInterval,
    /// The answer failed by itself.
    pub failed: bool,
}

/// Where a pair comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSource {
    /// The question was asked again in other words.
    Rephrase,
    /// The user said what was wrong and got another answer.
    Correction,
}

impl PairSource {
    /// The word in a file.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Rephrase => "rephrase",
            Self::Correction => "correction",
        }
    }
}

/// One answer is better than another to the same question.
#[derive(Clone, Debug, PartialEq)]
pub struct PreferencePair {
    /// The question both answer.
    pub prompt: String,
    /// The better.
    pub chosen: String,
    /// The worse.
    pub rejected: String,
    /// Where it comes from.
    pub source: PairSource,
    /// The weaker of the two verdicts.
    pub confidence: UnitInterval,
}

/// A user who only moved on said nothing about the answer.
const SURE: f64 = 0.7;

/// Chains of rejected answers that end in an accepted one: each rejected answer makes a pair with
/// the accepted. A rephrased chain keeps its first question; a correction is prompted by what the
/// user said last, which holds both the question and what was wrong with the first answer.
pub fn pairs_of(turns: &[JudgedTurn<'_>]) -> Vec<PreferencePair> {
    let mut pairs = Vec::new();
    let mut chain: Vec<&JudgedTurn<'_>> = Vec::new();
    for turn in turns {
        match turn.status {
            Some(VerdictStatus::Rejected)
                if turn.correction_type != Some(CorrectionType::Abandonment) =>
            {
                chain.push(turn);
            }
            Some(VerdictStatus::Accepted) if !turn.failed && turn.confidence.get() >= SURE => {
                pairs.extend(chain.drain(..).filter_map(|worse| pair(worse, turn)));
            }
            Some(_) | None => chain.clear(),
        }
    }
    pairs
}

fn pair(worse: &JudgedTurn<'_>, better: &JudgedTurn<'_>) -> Option<PreferencePair> {
    let (chosen, rejected) = (better.answer.trim(), worse.answer.trim());
    if chosen.is_empty() || rejected.is_empty() || chosen == rejected {
        return None;
    }
    let rephrased = worse.correction_type == Some(CorrectionType::Rephrased);
    let (source, prompt) = if rephrased {
        (PairSource::Rephrase, worse.question.to_owned())
    } else {
        (PairSource::Correction, format!("{}\n\n{}", worse.question, better.question))
    };
    let surer = worse.confidence.get() < better.confidence.get();
    let confidence = if surer { worse.confidence } else { better.confidence };
    Some(PreferencePair {
        prompt,
        chosen: chosen.to_owned(),
        rejected: rejected.to_owned(),
        source,
        confidence,
    })
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
    fn a_rephrased_question_that_was_then_answered_makes_a_pair() {
        let turns = [
            turn("q1", "bad", Some(Rejected), Some(Rephrased)),
            turn("q1 again", "good", Some(Accepted), None),
        ];
        let pairs = pairs_of(&turns);
        assert_eq!(pairs.len(), 1);
        assert_eq!(
            (pairs[0].prompt.as_str(), pairs[0].chosen.as_str(), pairs[0].rejected.as_str()),
            ("q1", "good", "bad")
        );
    }

    #[test]
    fn a_correction_is_prompted_with_what_was_wrong() {
        let turns = [
            turn("laptops", "business", Some(Rejected), Some(Explicit)),
            turn("no, gaming", "gaming", Some(Accepted), None),
        ];
        assert_eq!(pairs_of(&turns)[0].prompt, "laptops\n\nno, gaming");
    }

    #[test]
    fn what_was_not_accepted_proves_nothing() {
        let rows: [&[JudgedTurn<'_>]; 4] = [
            &[
                turn("q", "bad", Some(Rejected), Some(Explicit)),
                turn("q2", "worse", Some(Rejected), Some(Explicit)),
            ],
            &[
                turn("q", "bad", Some(Rejected), Some(Explicit)),
                turn("q2", "a", Some(Neutral), None),
                turn("q3", "b", Some(Accepted), None),
            ],
            &[
                turn("q", "bad", Some(Rejected), Some(Abandonment)),
                turn("q2", "a", Some(Accepted), None),
            ],
            &[
                turn("q", "same", Some(Rejected), Some(Rephrased)),
                turn("q", "same", Some(Accepted), None),
            ],
        ];
        for turns in rows {
            assert!(pairs_of(turns).is_empty(), "{turns:?}");
        }
    }
}
