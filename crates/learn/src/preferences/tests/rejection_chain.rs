//! Chains of rejected answers.

use super::super::conversation_pairs::find_chain_pairs;
use super::*;
use CorrectionType::{Abandonment, Explicit, Rephrased};
use VerdictStatus::{Accepted, Neutral, Rejected};

fn judged(
    question: &str,
    answer: &str,
    status: VerdictStatus,
    correction_type: Option<CorrectionType>,
) -> PreferenceTurn {
    PreferenceTurn { verdict: verdict(status, correction_type), ..turn("t", question, answer) }
}

#[test]
fn rephrased_then_accepted_question_makes_a_pair() {
    let turns = [
        judged("q1", "bad", Rejected, Some(Rephrased)),
        judged("q1 again", "good", Accepted, None),
    ];
    let pairs = find_chain_pairs(&turns);
    assert_eq!(pairs.len(), 1);
    assert_eq!((pairs[0].worse, pairs[0].better, pairs[0].prompt.as_str()), (0, 1, "q1"));
}

#[test]
fn chain_prompt_includes_the_complaint() {
    let turns = [
        judged("laptops", "business", Rejected, Some(Explicit)),
        judged("no, gaming", "gaming", Accepted, None),
    ];
    assert_eq!(find_chain_pairs(&turns)[0].prompt, "laptops\n\nno, gaming");
}

#[test]
fn every_rejected_answer_of_a_chain_is_paired() {
    let turns = [
        judged("laptops", "desks", Rejected, Some(Rephrased)),
        judged("notebooks", "business", Rejected, Some(Explicit)),
        judged("no, gaming", "gaming", Accepted, None),
        judged("next", "other", Accepted, None),
    ];
    let prompts: Vec<String> = find_chain_pairs(&turns).into_iter().map(|p| p.prompt).collect();
    assert_eq!(prompts, ["laptops\n\nno, gaming", "notebooks\n\nno, gaming"]);
}

#[test]
fn chain_without_a_confident_acceptance_makes_no_pair() {
    let mut unsure = judged("q2", "a", Accepted, None);
    unsure.verdict = unsure.verdict.map(|v| TurnVerdict { confidence: unit(0.69), ..v });
    let failed = PreferenceTurn { failed: true, ..judged("q2", "a", Accepted, None) };
    let bad = || judged("q", "bad", Rejected, Some(Explicit));
    let rows: [&[PreferenceTurn]; 6] = [
        &[bad(), judged("q2", "worse", Rejected, Some(Explicit))],
        &[bad(), judged("q2", "a", Neutral, None), judged("q3", "b", Accepted, None)],
        &[judged("q", "bad", Rejected, Some(Abandonment)), judged("q2", "a", Accepted, None)],
        &[judged("q", "same", Rejected, Some(Rephrased)), judged("q", "same", Accepted, None)],
        &[bad(), unsure],
        &[bad(), failed],
    ];
    for turns in rows {
        assert!(find_chain_pairs(turns).is_empty(), "{turns:?}");
    }
}
