//! Finds the turn that a remark judges: the last one, an earlier one, or none.
//!
//! Rules, in order:
//! - A remark without a named reference concerns the last turn: a bare "no, wrong" or "thanks!", a
//!   repeated question, abandonment, a correction ("I meant …"), or a demonstrative opening. That
//!   covers nearly all messages and needs no other turn, see [`may_target_earlier_turn`].
//! - An ordinal reference ("the first diagram", "your earlier answer about X") is resolved by
//!   `ordinal.rs`.
//! - Any other judged reference ("the login diagram was fine") is ranked by similarity and recency.
//!   An earlier turn must beat the last by a margin and must not have the same verdict already.
//! - After a question by the assistant a name is part of the reply, so the last turn is meant.
//! - A reference that resembles no turn concerns none.

mod ordinal;
#[cfg(test)]
mod tests;

use std::time::Duration;

use embed::built_in;
use model::{CorrectionType, TurnId, Vector, Verdict, VerdictStatus};

use crate::phrases::Cue;
use crate::references::{
    AnswerReference, ReferentKind, extract_references, opens_with_demonstrative,
};
use crate::utterance::{Utterance, ends_with_question, is_bare_remark};
use crate::verdict::{EARLIER_BETTER_RULE, MOVED_ON_RULE};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetRule {
    /// Weight of the similarity, 0 to 1; recency has the rest.
    pub similarity_weight: f64,
    /// Age at which recency counts half.
    pub half_life: Duration,
    pub max_age: Duration,
    pub top_k: usize,
    pub min_score: f64,
    /// Margin by which an earlier turn must beat the last one.
    pub min_margin: f64,
}

impl Default for TargetRule {
    fn default() -> Self {
        const DAY: u64 = 24 * 60 * 60;
        Self {
            similarity_weight: 0.85,
            half_life: Duration::from_secs(7 * DAY),
            max_age: Duration::from_secs(365 * DAY),
            top_k: 5,
            min_score: 0.35,
            min_margin: 0.1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct PastTurn<'a> {
    pub turn: &'a TurnId,
    pub question: &'a str,
    /// May be cut to [`answer_head`], because only that part is used.
    pub answer: &'a str,
    pub age: Duration,
    /// Current verdict; neutral when unknown.
    pub status: VerdictStatus,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Previous,
    Earlier(RankedTurn),
    /// No turn of this conversation. The verdict is a finding, but not a reaction.
    NoTurn,
}

/// Characters of an answer that are compared with a remark.
const ANSWER_HEAD_CHARS: usize = 500;
/// Minimum words of a reference that can rule out the last turn.
const MIN_DISTINCTIVE_WORDS: usize = 2;

/// The beginning of an answer, as far as it is compared with a remark.
pub fn answer_head(answer: &str) -> &str {
    let end = answer.char_indices().nth(ANSWER_HEAD_CHARS).map_or(answer.len(), |(at, _)| at);
    &answer[..end]
}

/// True when earlier turns are needed to find the target. Cheap, and false for most messages; then
/// the target is the previous turn.
pub fn may_target_earlier_turn(verdict: &Verdict, message: &Utterance) -> bool {
    find_judged_reference(verdict, message).is_some()
}

/// Finds the turn that a verdict concerns. `past` holds the answered turns, newest first.
pub fn find_target(
    rule: &TargetRule,
    verdict: &Verdict,
    message: &Utterance,
    past: &[PastTurn<'_>],
) -> Target {
    let Some(previous) = past.first() else { return Target::NoTurn };
    let Some(reference) = find_judged_reference(verdict, message) else { return Target::Previous };
    let name = message.original().get(reference.span.0..reference.span.1).unwrap_or_default();
    let remark = built_in().embed(name);
    if reference.ordinal.is_some() {
        let recent = past.iter().take_while(|turn| turn.age <= rule.max_age).count();
        return match ordinal::resolve_ordinal(&reference, verdict, &past[..recent]) {
            Some(0) => Target::Previous,
            Some(at) => Target::Earlier(score_past_turn(rule, &remark, &past[at])),
            None => previous_or_no_turn(rule, &reference, &remark, previous),
        };
    }
    if ends_with_question(previous.answer) {
        return Target::Previous;
    }
    let is_candidate =
        |turn: &&PastTurn<'_>| turn.status != verdict.status && turn.age <= rule.max_age;
    let earlier =
        past[1..].iter().filter(is_candidate).map(|turn| score_past_turn(rule, &remark, turn));
    // `max_by` keeps the last of equal scores, so the iteration runs from the oldest to the newest.
    let best = earlier.rev().max_by(|a, b| a.score.total_cmp(&b.score));
    let last = score_past_turn(rule, &remark, previous).score;
    match best.filter(|best| best.score >= rule.min_score && best.score >= last + rule.min_margin) {
        Some(best) => Target::Earlier(best),
        None => previous_or_no_turn(rule, &reference, &remark, previous),
    }
}

/// The judged reference, when it may concern an earlier answer.
fn find_judged_reference(verdict: &Verdict, message: &Utterance) -> Option<AnswerReference> {
    let explicit = matches!(verdict.correction_type, None | Some(CorrectionType::Explicit));
    let continues = verdict.behaviour.is_some() || verdict.rule == MOVED_ON_RULE;
    let neutral = verdict.status == VerdictStatus::Neutral;
    if neutral || !explicit || continues || verdict.rule == EARLIER_BETTER_RULE {
        return None;
    }
    let good = verdict.status == VerdictStatus::Accepted;
    // "The first was right, this one is wrong" rejects another answer than it names.
    let agrees = |reference: &AnswerReference| match reference.judgement {
        Some(Some(is_positive)) => is_positive == good,
        Some(None) => true,
        None => reference.is_thanked_for && good,
    };
    let references: Vec<AnswerReference> =
        extract_references(message).into_iter().filter(agrees).collect();
    if let Some(at) = references.iter().position(AnswerReference::selects_earlier_answer) {
        return references.into_iter().nth(at);
    }
    let corrects = message.has_any_cue(&[Cue::Correction, Cue::Want, Cue::Retry]);
    if corrects || opens_with_demonstrative(message) || is_bare_remark(message) {
        return None;
    }
    let thanks = message.has_cue(Cue::Thanks);
    let has_name = |reference: &AnswerReference| {
        let min_words = if reference.judgement.is_some() { 1 } else { MIN_DISTINCTIVE_WORDS };
        // "Yes, perfect. Is the price range high?" does not praise the price range.
        let is_judged = reference.judgement == Some(Some(good)) || (good && thanks);
        is_judged && reference.kind != ReferentKind::Part && reference.stems.len() >= min_words
    };
    references.into_iter().find(has_name)
}

/// The last turn, unless a distinctive reference neither resembles it nor occurs in it.
fn previous_or_no_turn(
    rule: &TargetRule,
    reference: &AnswerReference,
    remark: &Vector,
    previous: &PastTurn<'_>,
) -> Target {
    // An ordinal with a specific noun is always distinctive.
    let is_distinctive = (reference.ordinal.is_some() && reference.kind == ReferentKind::Subject)
        || (reference.stems.len() >= MIN_DISTINCTIVE_WORDS && reference.judgement.is_some());
    let resembles = || score_past_turn(rule, remark, previous).score >= rule.min_score;
    if !is_distinctive || resembles() || ordinal::mentions_any(previous, &reference.stems) {
        return Target::Previous;
    }
    Target::NoTurn
}

fn score_past_turn(rule: &TargetRule, remark: &Vector, turn: &PastTurn<'_>) -> RankedTurn {
    let answer = built_in().embed(answer_head(turn.answer));
    let question = built_in().embed(turn.question);
    let candidate = TargetCandidate {
        turn: turn.turn,
        question: &question,
        answer: Some(&answer),
        age: turn.age,
    };
    score_candidate(rule, remark, &candidate)
}

#[derive(Clone, Copy, Debug)]
pub struct TargetCandidate<'a> {
    pub turn: &'a TurnId,
    pub question: &'a Vector,
    pub answer: Option<&'a Vector>,
    pub age: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RankedTurn {
    pub turn: TurnId,
    /// Weighted similarity and recency, 0 to 1.
    pub score: f64,
    /// The higher similarity of question and answer.
    pub similarity: f64,
}

/// Ranks the candidates above the minimum score, best first.
pub fn rank_candidates(
    rule: &TargetRule,
    remark: &Vector,
    candidates: &[TargetCandidate<'_>],
) -> Vec<RankedTurn> {
    let mut found: Vec<RankedTurn> = candidates
        .iter()
        .filter(|candidate| candidate.age <= rule.max_age)
        .map(|candidate| score_candidate(rule, remark, candidate))
        .filter(|located| located.score >= rule.min_score)
        .collect();
    found.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| a.turn.as_str().cmp(b.turn.as_str()))
    });
    found.truncate(rule.top_k);
    found
}

fn score_candidate(
    rule: &TargetRule,
    remark: &Vector,
    candidate: &TargetCandidate<'_>,
) -> RankedTurn {
    let cosine = |other: &Vector| remark.cosine(other).map_or(0.0, f64::from);
    let similarity = cosine(candidate.question).max(candidate.answer.map_or(0.0, cosine)).max(0.0);
    let recency = (-candidate.age.as_secs_f64() / rule.half_life.as_secs_f64()).exp2();
    let score = rule.similarity_weight * similarity + (1.0 - rule.similarity_weight) * recency;
    RankedTurn { turn: candidate.turn.clone(), score, similarity }
}
