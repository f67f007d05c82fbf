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

use super::rules::{covered_by_praise, evidence, finding};
use super::{Exchange, Finding, contrast};
use crate::phrases::{Cue, Hit};
use crate::references::{Named, has_order, is_negated, is_verb, named};
use crate::utterance::{Utterance, is_bare};

pub(crate) const TAKEN_BACK: &str = "taken_back";
pub(crate) const EARLIER_RIGHT: &str = "earlier_right";
pub(crate) const EARLIER_BETTER: &str = "earlier_better";

const EARLIER_WRONG: &str = "earlier_wrong";

/// Maximum words between a verb and its positive word.
const FROM_VERB: usize = 3;

pub(crate) fn judge(exchange: &Exchange<'_>) -> Option<Finding> {
    let message = exchange.message;
    let ordered = if has_order(message) { named(message) } else { Vec::new() };
    let back: Vec<Named> = ordered.into_iter().filter(Named::points_back).collect();
    if back.is_empty() && !message.has(Cue::OwnFault) {
        return None;
    }
    let own = message.hits.iter().find(|h| h.cue == Cue::OwnFault && !is_negated(message, h));
    let good = message.hits.iter().find(|hit| says_good(message, hit));
    let worse = message.hits.iter().find(|hit| hit.cue == Cue::Worse);
    let denied = message.hits.iter().find(|h| is_good_word(h) && is_negated(message, h));
    let asks = message.original().trim_end().ends_with(['?', '？']);
    if (asks && worse.is_none()) || blames(message) {
        return None;
    }
    let is_good = |n: &Named| n.said == Some(Some(true));
    let praised = back.iter().any(is_good);
    let pointed = back.iter().any(|n| n.said.is_some());
    let halved = message.has(Cue::Yet) || (praised && !back.iter().all(is_good));
    match (own, good, worse) {
        (None, _, Some(hit)) if pointed => Some(rejected(message, hit, EARLIER_BETTER)),
        (Some(hit), Some(_), None) if !halved => Some(accepted(message, hit, TAKEN_BACK, 0.9)),
        (None, Some(hit), None) if praised && !halved => {
            Some(accepted(message, hit, EARLIER_RIGHT, 0.8))
        }
        // "The first one was fine, but …" is positive, but about another answer.
        (None, Some(hit), None) if praised => Some(neutral(message, hit, EARLIER_RIGHT)),
        (Some(hit), None, None) if is_bare(message) => Some(neutral(message, hit, TAKEN_BACK)),
        (None, None, None) if back.iter().any(|n| n.said == Some(Some(false))) => {
            denied.map(|hit| rejected(message, hit, EARLIER_WRONG))
        }
        _ => None,
    }
}

fn accepted(message: &Utterance, hit: &Hit, rule: &'static str, confidence: f64) -> Finding {
    finding(VerdictStatus::Accepted, confidence, rule, vec![evidence(message, hit)])
}

fn neutral(message: &Utterance, hit: &Hit, rule: &'static str) -> Finding {
    finding(VerdictStatus::Neutral, 0.5, rule, vec![evidence(message, hit)])
}

fn rejected(message: &Utterance, hit: &Hit, rule: &'static str) -> Finding {
    let mut found = finding(VerdictStatus::Rejected, 0.8, rule, vec![evidence(message, hit)]);
    found.correction_type = Some(CorrectionType::Explicit);
    found
}

/// True for "was right", "worked" and "perfect", but not for "the right question" or a negation.
fn says_good(message: &Utterance, hit: &Hit) -> bool {
    if !is_good_word(hit) || is_negated(message, hit) {
        return false;
    }
    let from = hit.first.saturating_sub(FROM_VERB);
    let said = || message.spoken[from..=hit.last].iter().any(|word| is_verb(*word));
    hit.cue == Cue::Praise || said()
}

fn is_good_word(hit: &Hit) -> bool {
    matches!(hit.cue, Cue::Sound | Cue::Praise)
}

/// True when the message corrects or blames something besides the user's own fault. "No wait, the
/// first was right" does neither.
fn blames(message: &Utterance) -> bool {
    let owned = |hit: &Hit| {
        message
            .hits
            .iter()
            .any(|own| own.cue == Cue::OwnFault && own.first <= hit.last && hit.first <= own.last)
    };
    let blamed = message.hits.iter().any(|hit| {
        let blaming = matches!(
            hit.cue,
            Cue::Correction | Cue::Rejection | Cue::Retry | Cue::Quality | Cue::Dislike
        );
        blaming && !owned(hit) && !covered_by_praise(message, hit)
    });
    // "Gaming laptops, not business laptops" corrects; "my issue, not yours" does not.
    let contrasts = || contrast::contrast(message).is_some_and(|c| c.wants.is_some());
    blamed || (!message.has(Cue::OwnFault) && contrasts())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule name or "neutral"; empty when the other rules decide.
    fn found(message: &str) -> &'static str {
        let message = Utterance::read(message);
        let found = judge(&Exchange::of(&message));
        found.map_or("", |f| if f.status == VerdictStatus::Neutral { "neutral" } else { f.rule })
    }

    #[test]
    fn own_fault_and_a_good_word_take_back() {
        for message in [
            "The first diagram was fine, it was my mistake",
            "Ah the previous diagram also worked fine. It was my issue.",
            "my bad, the original query was right",
            "the earlier chart was fine, I misread it",
            "ignore me, it was my mistake, the first version works",
            "no wait, I was wrong, it does work",
            "Turns out the problem was on my end, the first diagram renders",
            "the query is correct after all",
            "Es lag an mir, das erste Diagramm stimmte",
            "之前的图没问题，我看错了",
        ] {
            assert_eq!(found(message), TAKEN_BACK, "{message}");
        }
    }

    #[test]
    fn a_good_or_a_denied_word_for_an_earlier_answer_is_about_that() {
        let rows = [
            ("actually your first SQL was right", EARLIER_RIGHT),
            ("sorry, the first answer was correct", EARLIER_RIGHT),
            ("The first diagram was not right", EARLIER_WRONG),
            ("I don't think the first diagram was correct", EARLIER_WRONG),
            ("the first diagram was fine but this one is broken", EARLIER_BETTER),
            ("the original version was better, go back to it", EARLIER_BETTER),
            ("the first diagram was fine, but please add colours", "neutral"),
            ("first diagram was good, second was bad", "neutral"),
        ];
        for (message, expected) in rows {
            assert_eq!(found(message), expected, "{message}");
        }
    }

    #[test]
    fn own_fault_alone_says_nothing_of_the_answer() {
        for message in ["my bad", "it was my issue, not yours", "Oops, my mistake!"] {
            assert_eq!(found(message), "neutral", "{message}");
        }
    }

    #[test]
    fn what_blames_asks_or_corrects_is_left_to_the_other_rules() {
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
            assert_eq!(found(message), "", "{message}");
        }
    }
}
