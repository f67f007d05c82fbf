//! Finds the turn that a remark judges: the last one, an earlier one, or none.
//!
//! Rules, in order:
//! - A remark that names nothing beyond the last turn concerns the last turn: a bare "no, wrong" or
//!   "thanks!", a repeated question, abandonment, a correction ("I meant …"). That covers most
//!   messages and needs no other turn, see [`may_target_earlier_turn`].
//! - An ordinal with a judgement ("the first diagram was fine") is resolved by `ordinal.rs`.
//! - Other words ("your mail has the wrong date", "the second thing you gave me") are evidence for
//!   the turns that hold them (`evidence.rs`), weighed in `ranking.rs`. An earlier turn must be
//!   likely, beat the next by a margin and not have the same verdict already.
//! - After a question by the assistant a name may be part of the reply, so more evidence is needed.
//! - A message that resembles no turn, or two equally, concerns none.
//!
//! A message that judges nothing clearly is first judged with the turn that it names, see
//! [`find_named_turn`].

mod evidence;
mod ordinal;
mod pointer;
mod position;
mod ranking;
mod statement;
mod terms;
#[cfg(test)]
mod tests;

use std::time::Duration;

use embed::built_in;
use model::{TurnId, Vector, Verdict, VerdictStatus};

use self::pointer::{
    Judgement, MIN_DISTINCTIVE_WORDS, Pointer, PointingWords, find_named_reference, find_pointer,
};
use self::position::find_position;
use self::ranking::{NamedTurns, rank_turns};
use self::statement::stated_words;
use crate::references::{AnswerReference, ReferentKind, has_order_word, may_choose};
use crate::utterance::{Utterance, ends_with_question};

/// Newest turns that words are compared with. Order words count all.
pub const MAX_NAMED_TURNS: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetRule {
    /// Weight of the similarity, 0 to 1; recency has the rest.
    pub similarity_weight: f64,
    /// Age at which recency counts half.
    pub half_life: Duration,
    pub max_age: Duration,
    pub top_k: usize,
    pub min_score: f64,
    /// Margin by which an earlier turn must be likelier than the next one.
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
            min_margin: 0.2,
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
/// Minimum probability of an earlier turn, for a clear judgement and for another remark.
const MIN_CLEAR: f64 = 0.5;
const MIN_UNCLEAR: f64 = 0.6;
/// The same after a question by the assistant.
const MIN_REPLY: f64 = 0.75;
/// Minimum probability of the last turn when others share words with the message.
const MIN_LAST: f64 = 0.45;

/// The beginning of an answer, as far as it is compared with a remark.
pub fn answer_head(answer: &str) -> &str {
    let end = answer.char_indices().nth(ANSWER_HEAD_CHARS).map_or(answer.len(), |(at, _)| at);
    &answer[..end]
}

/// True when earlier turns are needed to find the target. Cheap, and false for most messages; then
/// the target is the previous turn.
pub fn may_target_earlier_turn(
    verdict: &Verdict,
    message: &Utterance,
    previous: &PastTurn<'_>,
) -> bool {
    find_pointer(&Judgement::new(verdict), message, previous).is_some()
}

/// True when the message may name an earlier turn, whatever its verdict. Cheap, and false for most
/// messages; then [`find_named_turn`] finds none.
pub fn may_name_earlier_turn(message: &Utterance, previous: &PastTurn<'_>) -> bool {
    find_pointer(&Judgement::UNKNOWN, message, previous).is_some()
}

/// True for a clear acceptance or rejection. A message that judges nothing stays with the last turn.
pub fn is_clear_judgement(verdict: &Verdict) -> bool {
    Judgement::new(verdict).is_clear
}

/// True when older turns than the newest [`MAX_NAMED_TURNS`] may be named: "your first answer".
pub fn may_count_turns(message: &Utterance) -> bool {
    has_order_word(message)
}

/// Finds the earlier turn that a message names, so that the message can be judged with the question
/// and answer of that turn: "wait, 14 days isn't right, it's 30 (the return thing)". `past` holds
/// the answered turns, newest first.
pub fn find_named_turn(
    rule: &TargetRule,
    message: &Utterance,
    past: &[PastTurn<'_>],
) -> Option<RankedTurn> {
    match find_judged_turn(rule, &Judgement::UNKNOWN, message, past) {
        Target::Earlier(found) => Some(found),
        Target::Previous | Target::NoTurn => None,
    }
}

/// Finds the turn that a verdict concerns. `past` holds the answered turns, newest first.
pub fn find_target(
    rule: &TargetRule,
    verdict: &Verdict,
    message: &Utterance,
    past: &[PastTurn<'_>],
) -> Target {
    find_judged_turn(rule, &Judgement::new(verdict), message, past)
}

fn find_judged_turn(
    rule: &TargetRule,
    judgement: &Judgement,
    message: &Utterance,
    past: &[PastTurn<'_>],
) -> Target {
    let Some(previous) = past.first() else { return Target::NoTurn };
    let recent = past.iter().take_while(|turn| turn.age <= rule.max_age).count();
    let past = &past[..recent.max(1)];
    match find_pointer(judgement, message, previous) {
        None => Target::Previous,
        Some(Pointer::Ordered(reference)) => {
            let remark = embed_reference(message, &reference);
            let found = ordinal::resolve_ordinal(&reference, judgement.status, past);
            match found.or_else(|| find_position(message, &stated_words(message, true), past)) {
                Some(0) => Target::Previous,
                Some(at) => Target::Earlier(score_past_turn(rule, &remark, &past[at])),
                None => previous_or_no_turn(rule, &reference, &remark, previous),
            }
        }
        Some(Pointer::Words(words)) => find_by_words(rule, judgement, message, past, &words),
    }
}

fn find_by_words(
    rule: &TargetRule,
    judgement: &Judgement,
    message: &Utterance,
    past: &[PastTurn<'_>],
    pointer: &PointingWords,
) -> Target {
    // After a question by the assistant a name may be part of the reply.
    let replies = ends_with_question(past[0].answer);
    if replies && may_choose(message) {
        return Target::Previous;
    }
    let candidates = select_candidates(judgement, past);
    let turns: Vec<PastTurn<'_>> = candidates.iter().map(|at| past[*at]).collect();
    let ordered = find_position(message, &pointer.stated, past);
    let ordered = ordered.and_then(|at| candidates.iter().position(|candidate| *candidate == at));
    let named = NamedTurns { past: &turns, ordered, withdraws: judgement.withdraws };
    let Some(found) = rank_turns(message, &pointer.stated, &named) else {
        return Target::Previous;
    };
    let min_terms = if pointer.opens_with_demonstrative { MIN_DISTINCTIVE_WORDS } else { 0 };
    let min_probability = match (judgement.is_clear, replies) {
        (true, false) => MIN_CLEAR,
        (false, false) => MIN_UNCLEAR,
        (_, true) => MIN_REPLY,
    };
    let is_sure = found.probability >= min_probability
        && found.lead >= rule.min_margin
        && !found.is_tied
        && found.terms >= min_terms as f64;
    match found.best {
        Some(at) if at > 0 && is_sure => Target::Earlier(RankedTurn {
            turn: turns[at].turn.clone(),
            score: found.probability,
            similarity: found.similarity,
        }),
        _ if !judgement.is_clear || pointer.opens_with_demonstrative => Target::Previous,
        Some(0) if found.probability >= MIN_LAST => find_named_reference(judgement, message)
            .map_or(Target::Previous, |reference| {
                let remark = embed_reference(message, &reference);
                previous_or_no_turn(rule, &reference, &remark, &past[0])
            }),
        _ => Target::NoTurn,
    }
}

/// Indexes of the turns that words may name: the last one, and earlier ones without the same
/// verdict. Of equal questions the newest stands for all.
fn select_candidates(judgement: &Judgement, past: &[PastTurn<'_>]) -> Vec<usize> {
    let is_repeated = |at: usize| {
        past[..at].iter().any(|newer| newer.question.trim() == past[at].question.trim())
    };
    let recent = 0..past.len().min(MAX_NAMED_TURNS);
    recent
        .filter(|at| *at == 0 || (!judgement.is_repeated_by(&past[*at]) && !is_repeated(*at)))
        .collect()
}

fn embed_reference(message: &Utterance, reference: &AnswerReference) -> Vector {
    let name = message.original().get(reference.span.0..reference.span.1).unwrap_or_default();
    built_in().embed(name)
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
