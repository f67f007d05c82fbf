//! Decides whether a message may name an earlier turn. Cheap: it reads the message and the last
//! turn only.

use model::{CorrectionType, Verdict, VerdictStatus};

use super::PastTurn;
use super::evidence::MessageTerms;
use super::position::may_name_position;
use super::statement::{is_remark, persists, stated_words};
use crate::lexicon::lexicon;
use crate::phrases::Cue;
use crate::references::{
    AnswerReference, ReferentKind, extract_references, opens_with_demonstrative,
};
use crate::utterance::{Utterance, is_bare_remark};
use crate::verdict::{EARLIER_BETTER_RULE, MOVED_ON_RULE, RETRACTED_RULE};

/// Minimum words of a reference that can rule out the last turn.
pub(super) const MIN_DISTINCTIVE_WORDS: usize = 2;

/// The part of a verdict that decides about its target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    pub status: VerdictStatus,
    /// True for a clear acceptance or rejection.
    pub is_clear: bool,
    /// True for a user who takes a complaint back.
    pub withdraws: bool,
    /// True when the verdict can only be about the last turn.
    is_about_last: bool,
}

impl Judgement {
    /// Before the message is judged.
    pub(super) const UNKNOWN: Self = Self {
        status: VerdictStatus::Neutral,
        is_clear: false,
        withdraws: false,
        is_about_last: false,
    };

    pub(super) fn new(verdict: &Verdict) -> Self {
        let explicit = matches!(verdict.correction_type, None | Some(CorrectionType::Explicit));
        let continues = verdict.behaviour.is_some() || verdict.rule == MOVED_ON_RULE;
        Self {
            status: verdict.status,
            is_clear: verdict.status != VerdictStatus::Neutral && !continues,
            withdraws: verdict.rule == RETRACTED_RULE,
            is_about_last: !explicit || verdict.rule == EARLIER_BETTER_RULE,
        }
    }

    pub(super) fn is_repeated_by(&self, turn: &PastTurn<'_>) -> bool {
        self.status != VerdictStatus::Neutral && turn.status == self.status
    }
}

/// Kinds of reference to an earlier turn.
pub(super) enum Pointer {
    /// An order word with what is judged: "the first diagram was fine".
    Ordered(AnswerReference),
    Words(PointingWords),
}

/// Words that an earlier turn may hold.
pub(super) struct PointingWords {
    /// For each word, whether it belongs to a statement.
    pub stated: Vec<bool>,
    pub opens_with_demonstrative: bool,
}

pub(super) fn find_pointer(
    judgement: &Judgement,
    message: &Utterance,
    previous: &PastTurn<'_>,
) -> Option<Pointer> {
    if judgement.is_about_last || (judgement.is_clear && praises_another(judgement, message)) {
        return None;
    }
    let ordered = |reference: &AnswerReference| reference.selects_earlier_answer();
    if judgement.is_clear
        && let Some(found) = judged_references(judgement, message).into_iter().find(ordered)
    {
        return Some(Pointer::Ordered(found));
    }
    let stated = stated_words(message, judgement.is_clear);
    let has_position = may_name_position(message, &stated);
    // "No, the second one" asks for another answer.
    let is_bare = is_bare_remark(message) && (message.opens_with(Cue::Negation) || !has_position);
    let may_judge = judgement.is_clear || is_remark(message, &stated);
    if corrects(message) || is_bare || !may_judge {
        return None;
    }
    let names = || MessageTerms::read(message, &stated).goes_beyond(previous);
    if !has_position && (persists(message) || !names()) {
        return None;
    }
    let opens_with_demonstrative = opens_with_demonstrative(message);
    Some(Pointer::Words(PointingWords { stated, opens_with_demonstrative }))
}

/// True for "no, I meant …": a correction of the last answer. "The 410 should be 140" names what it
/// corrects.
fn corrects(message: &Utterance) -> bool {
    let is_covered = |at: usize| message.hits.iter().any(|h| h.first <= at && at <= h.last);
    let is_content = |at: usize| {
        let word = message.word_hashes[at];
        !is_covered(at) && !lexicon().is_stop_word(word) && !lexicon().preamble.contains(&word)
    };
    message.hits.iter().any(|hit| {
        let asks_again = matches!(hit.cue, Cue::Want | Cue::Retry) && hit.is_opening;
        asks_again || (hit.cue == Cue::Correction && !(0..hit.first).any(is_content))
    })
}

/// True when the message judges a named earlier answer the other way: "the first was right, this one
/// is wrong".
fn praises_another(judgement: &Judgement, message: &Utterance) -> bool {
    let rejects = judgement.status == VerdictStatus::Rejected;
    let opposes = |reference: &AnswerReference| {
        reference.selects_earlier_answer() && reference.judgement == Some(Some(rejects))
    };
    extract_references(message).iter().any(opposes)
}

/// References whose judgement agrees with the verdict.
fn judged_references(judgement: &Judgement, message: &Utterance) -> Vec<AnswerReference> {
    let good = judgement.status == VerdictStatus::Accepted;
    // "The first was right, this one is wrong" rejects another answer than it names.
    let agrees = |reference: &AnswerReference| match reference.judgement {
        Some(Some(is_positive)) => is_positive == good,
        Some(None) => true,
        None => reference.is_thanked_for && good,
    };
    extract_references(message).into_iter().filter(agrees).collect()
}

/// The judged name in a message: "the soup recipe was awful".
pub(super) fn find_named_reference(
    judgement: &Judgement,
    message: &Utterance,
) -> Option<AnswerReference> {
    if message.has_any_cue(&[Cue::Want, Cue::Retry]) {
        return None;
    }
    let good = judgement.status == VerdictStatus::Accepted;
    let thanks = message.has_cue(Cue::Thanks);
    let has_name = |reference: &AnswerReference| {
        let min_words = if reference.judgement.is_some() { 1 } else { MIN_DISTINCTIVE_WORDS };
        // "Yes, perfect. Is the price range high?" does not praise the price range.
        let is_judged = reference.judgement == Some(Some(good)) || (good && thanks);
        is_judged && reference.kind != ReferentKind::Part && reference.stems.len() >= min_words
    };
    judged_references(judgement, message).into_iter().find(has_name)
}
