//! Detects retractions: "my mistake, the first diagram was fine". They are explicit but too rare
//! for a model to learn, so rules decide in both modes.
//!
//! - Own fault and a positive word, without blame: accepted.
//! - A positive word for an earlier answer ("the first query was right"): accepted.
//! - The later answer is worse ("… but this one", "was better"): the later answer is rejected.
//! - A negated positive word for an earlier answer ("the first was not right"): rejected.
//! - Own fault alone ("my bad"): neutral.
//!
//! A question retracts nothing, nor does "my mistake, I meant …".

use model::{CorrectionType, VerdictStatus};

use super::rules::{cue_evidence, is_covered_by_praise};
use super::two_sided::find_two_sided_contrast;
use super::{Exchange, RuleFinding};
use crate::phrases::{Cue, CueHit};
use crate::references::{AnswerReference, extract_references, has_ordinal, is_negated, is_verb};
use crate::utterance::{Utterance, is_bare_remark};

pub(crate) const RETRACTED_RULE: &str = "taken_back";
pub(crate) const EARLIER_RIGHT_RULE: &str = "earlier_right";
pub(crate) const EARLIER_BETTER_RULE: &str = "earlier_better";

const EARLIER_WRONG_RULE: &str = "earlier_wrong";

const MAX_WORDS_FROM_VERB: usize = 3;

pub(crate) fn detect_retraction(exchange: &Exchange<'_>) -> Option<RuleFinding> {
    let message = exchange.message;
    let ordered = if has_ordinal(message) { extract_references(message) } else { Vec::new() };
    let back: Vec<AnswerReference> =
        ordered.into_iter().filter(AnswerReference::selects_earlier_answer).collect();
    if back.is_empty() && !message.has_cue(Cue::OwnFault) {
        return None;
    }
    let own_fault = message.hits.iter().find(|h| h.cue == Cue::OwnFault && !is_negated(message, h));
    let is_good_hit = |hit: &&CueHit| is_positive_statement(message, hit);
    let behind_fault = own_fault
        .and_then(|own| message.hits.iter().filter(|hit| hit.first > own.last).find(is_good_hit));
    let good = behind_fault.or_else(|| message.hits.iter().find(is_good_hit));
    let worse = message.hits.iter().find(|hit| hit.cue == Cue::Worse);
    let denied = message.hits.iter().find(|h| is_positive_cue(h) && is_negated(message, h));
    let asks = message.ends_with_question();
    // "That's wrong… oh wait, I mistyped it, 391 is right": what precedes is withdrawn.
    let withdrawn = own_fault.filter(|own| good.is_some_and(|good| good.first > own.last));
    let blamed_from = withdrawn.map_or(0, |own| own.first);
    if (asks && worse.is_none()) || blames_answer(message, blamed_from) {
        return None;
    }
    let is_good = |n: &AnswerReference| n.judgement == Some(Some(true));
    let praised = back.iter().any(is_good);
    let pointed = back.iter().any(|n| n.judgement.is_some());
    let halved = message.has_cue(Cue::Yet) || (praised && !back.iter().all(is_good));
    let (status, confidence, rule, hit) = match (own_fault, good, worse) {
        (None, _, Some(hit)) if pointed => (VerdictStatus::Rejected, 0.8, EARLIER_BETTER_RULE, hit),
        (Some(hit), Some(_), None) if !halved => {
            (VerdictStatus::Accepted, 0.9, RETRACTED_RULE, hit)
        }
        (None, Some(hit), None) if praised && !halved => {
            (VerdictStatus::Accepted, 0.8, EARLIER_RIGHT_RULE, hit)
        }
        // "The first one was fine, but …" is positive, but about another answer.
        (None, Some(hit), None) if praised => {
            (VerdictStatus::Neutral, 0.5, EARLIER_RIGHT_RULE, hit)
        }
        (Some(hit), None, None) if is_bare_remark(message) => {
            (VerdictStatus::Neutral, 0.5, RETRACTED_RULE, hit)
        }
        (None, None, None) if back.iter().any(|n| n.judgement == Some(Some(false))) => {
            (VerdictStatus::Rejected, 0.8, EARLIER_WRONG_RULE, denied?)
        }
        _ => return None,
    };
    let correction_type = (status == VerdictStatus::Rejected).then_some(CorrectionType::Explicit);
    let evidence = vec![cue_evidence(message, hit)];
    Some(RuleFinding { correction_type, ..RuleFinding::new(status, confidence, rule, evidence) })
}

/// True for "was right", "worked" and "perfect", but not for "the right question" or a negation.
fn is_positive_statement(message: &Utterance, hit: &CueHit) -> bool {
    if !is_positive_cue(hit) || is_negated(message, hit) {
        return false;
    }
    let from = hit.first.saturating_sub(MAX_WORDS_FROM_VERB);
    let follows_verb = || message.word_hashes[from..=hit.last].iter().any(|word| is_verb(*word));
    hit.cue == Cue::Praise || follows_verb()
}

fn is_positive_cue(hit: &CueHit) -> bool {
    matches!(hit.cue, Cue::Sound | Cue::Praise)
}

/// True when the message, from a word on, corrects or blames something besides the user's own fault.
/// "No wait, the first was right" does neither.
fn blames_answer(message: &Utterance, from: usize) -> bool {
    let owned =
        |hit: &CueHit| message.hits.iter().any(|own| own.cue == Cue::OwnFault && own.overlaps(hit));
    let blamed = message.hits.iter().any(|hit| {
        let blaming = hit.cue.is_rejecting() || hit.cue == Cue::Dislike;
        blaming && hit.first >= from && !owned(hit) && !is_covered_by_praise(message, hit)
    });
    // "Gaming laptops, not business laptops" corrects; "my issue, not yours" does not.
    let contrasts = || find_two_sided_contrast(message).is_some_and(|c| c.wants.is_some());
    blamed || (!message.has_cue(Cue::OwnFault) && contrasts())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule name or "neutral"; empty when the other rules decide.
    fn retraction_rule(message: &str) -> &'static str {
        let message = Utterance::read(message);
        let found = detect_retraction(&Exchange::new(&message));
        found.map_or("", |f| if f.status == VerdictStatus::Neutral { "neutral" } else { f.rule })
    }

    #[test]
    fn own_fault_with_positive_word_retracts() {
        for message in [
            "The first diagram was fine, it was my mistake",
            "Ah the previous diagram also worked fine. It was my issue.",
            "my bad, the original query was right",
            "the earlier chart was fine, I misread it",
            "ignore me, it was my mistake, the first version works",
            "no wait, I was wrong, it does work",
            "Turns out the problem was on my end, the first diagram renders",
            "the query is correct after all",
            "that's wrong... oh wait, I mistyped it, 391 is right",
            "das ist falsch! ah nein, ich hatte mich vertippt, es stimmt",
            "Es lag an mir, das erste Diagramm stimmte",
            "之前的图没问题，我看错了",
        ] {
            assert_eq!(retraction_rule(message), RETRACTED_RULE, "{message}");
        }
    }

    #[test]
    fn judgement_of_an_earlier_answer_decides_the_verdict() {
        let rows = [
            ("actually your first SQL was right", EARLIER_RIGHT_RULE),
            ("sorry, the first answer was correct", EARLIER_RIGHT_RULE),
            ("The first diagram was not right", EARLIER_WRONG_RULE),
            ("I don't think the first diagram was correct", EARLIER_WRONG_RULE),
            ("the first diagram was fine but this one is broken", EARLIER_BETTER_RULE),
            ("the original version was better, go back to it", EARLIER_BETTER_RULE),
            ("the first diagram was fine, but please add colours", "neutral"),
            ("first diagram was good, second was bad", "neutral"),
        ];
        for (message, expected) in rows {
            assert_eq!(retraction_rule(message), expected, "{message}");
        }
    }

    #[test]
    fn own_fault_alone_is_neutral() {
        for message in ["my bad", "it was my issue, not yours", "Oops, my mistake!"] {
            assert_eq!(retraction_rule(message), "neutral", "{message}");
        }
    }

    #[test]
    fn blame_questions_and_corrections_are_no_retraction() {
        for message in [
            "it was your mistake",
            "that is not my mistake, it is yours",
            "the first diagram was wrong",
            "The first query was right, this one is wrong",
            "my mistake, I meant the deployment diagram",
            "my mistake, I should have asked the right question",
            "was the first diagram fine?",
            "my issue is still not solved",
            "I was wrong to trust you, this is broken",
            "thanks, that works",
            "",
        ] {
            assert_eq!(retraction_rule(message), "", "{message}");
        }
    }
}
