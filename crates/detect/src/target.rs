//! Which turn a remark is about: the last one, one further back, or none.
//!
//! In this order:
//! - What says nothing of an answer by name is about the last turn: a bare "no, wrong" or "thanks!", a
//!   question asked again, giving up, going on, moving on, a correction ("I meant …"), and what opens
//!   with "this" or "that". That is nearly everything, and needs no other turn: [`may_be_about_earlier`].
//! - A place in words ("the first diagram", "your earlier answer about X") is looked up: `place.rs`.
//! - Any other thing that is judged by name ("the login diagram was fine") is searched by likeness and
//!   recency. An earlier turn must beat the last by a margin, and must not have the verdict already: who
//!   repeats a topic three times means the last answer.
//! - After a question of the assistant's a name is part of the reply: the last turn.
//! - What resembles nothing that was said is about no turn ("the soup recipe was awful", among servers).

mod place;
#[cfg(test)]
mod tests;

use std::time::Duration;

use embed::built_in;
use model::{CorrectionType, TurnId, Vector, Verdict, VerdictStatus};

use crate::phrases::Cue;
use crate::pointing::{Named, Noun, named, opens_here};
use crate::utterance::{Utterance, is_bare};
use crate::verdict::{EARLIER_BETTER, MOVED_ON};

/// How candidates are weighed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetRule {
    /// Weight of the likeness; recency has the rest.
    pub similarity_weight: f64,
    /// After this long recency counts half.
    pub half_life: Duration,
    /// Older turns are not looked at.
    pub oldest: Duration,
    /// How many come back.
    pub top_k: usize,
    /// Below this score nobody is blamed.
    pub floor: f64,
    /// By how much an earlier turn must beat the last one.
    pub margin: f64,
}

impl Default for TargetRule {
    fn default() -> Self {
        const DAY: u64 = 24 * 60 * 60;
        Self {
            similarity_weight: 0.85,
            half_life: Duration::from_secs(7 * DAY),
            oldest: Duration::from_secs(365 * DAY),
            top_k: 5,
            floor: 0.35,
            margin: 0.1,
        }
    }
}

/// A turn of the conversation that was answered.
#[derive(Clone, Copy, Debug)]
pub struct PastTurn<'a> {
    /// The turn.
    pub turn: &'a TurnId,
    /// What was asked.
    pub question: &'a str,
    /// What was answered; only its beginning is read ([`answer_head`]), so that may be all there is.
    pub answer: &'a str,
    /// Time since.
    pub age: Duration,
    /// What is known of it so far; neutral when nothing is.
    pub status: VerdictStatus,
}

/// Whom a verdict concerns.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The turn before the message.
    Previous,
    /// One further back.
    Earlier(Located),
    /// No turn of this conversation: a finding, and no reaction.
    Nobody,
}

/// Characters of an answer that tell what it is about.
const HEAD: usize = 500;
/// Words of a name that say enough to tell that nobody spoke of it.
const TELLING: usize = 2;

/// As much of an answer as is compared with a remark.
pub fn answer_head(answer: &str) -> &str {
    let end = answer.char_indices().nth(HEAD).map_or(answer.len(), |(at, _)| at);
    &answer[..end]
}

/// Whether turns before the last must be looked at to tell whom the verdict concerns. Cheap, and false
/// for most messages: then it is the previous turn.
pub fn may_be_about_earlier(verdict: &Verdict, message: &Utterance) -> bool {
    pointed_at(verdict, message).is_some()
}

/// Finds the turn that a verdict concerns. `past` has the answered turns, the latest first.
pub fn find_target(
    rule: &TargetRule,
    verdict: &Verdict,
    message: &Utterance,
    past: &[PastTurn<'_>],
) -> Target {
    let Some(previous) = past.first() else { return Target::Nobody };
    let Some(thing) = pointed_at(verdict, message) else { return Target::Previous };
    let name = message.original().get(thing.bytes.0..thing.bytes.1).unwrap_or_default();
    let remark = built_in().embed(name);
    if thing.order.is_some() {
        let recent = past.iter().take_while(|turn| turn.age <= rule.oldest).count();
        return match place::resolve(&thing, verdict, &past[..recent]) {
            Some(0) => Target::Previous,
            Some(at) => Target::Earlier(scored(rule, &remark, &past[at])),
            // "The first diagram" where there is none: a place of its own says enough.
            None if thing.noun == Noun::Thing => unless_unlike(rule, &thing, &remark, previous),
            None => previous_or_nobody(rule, &thing, &remark, previous),
        };
    }
    if place::asks(previous) {
        return Target::Previous;
    }
    let known = |turn: &&PastTurn<'_>| turn.status != verdict.status && turn.age <= rule.oldest;
    let earlier = past[1..].iter().filter(known).map(|turn| scored(rule, &remark, turn));
    // Of equals the later one: `max_by` takes the last, so they are compared from the oldest.
    let best = earlier.rev().max_by(|a, b| a.score.total_cmp(&b.score));
    let last = scored(rule, &remark, previous).score;
    match best.filter(|best| best.score >= rule.floor && best.score >= last + rule.margin) {
        Some(best) => Target::Earlier(best),
        None => previous_or_nobody(rule, &thing, &remark, previous),
    }
}

/// The thing that the message judges, when that can be more than the last answer.
fn pointed_at(verdict: &Verdict, message: &Utterance) -> Option<Named> {
    let explicit = matches!(verdict.correction_type, None | Some(CorrectionType::Explicit));
    let goes_on = verdict.behaviour.is_some() || verdict.rule == MOVED_ON;
    let neutral = verdict.status == VerdictStatus::Neutral;
    if neutral || !explicit || goes_on || verdict.rule == EARLIER_BETTER {
        return None;
    }
    let good = verdict.status == VerdictStatus::Accepted;
    // "The first was right, this one is wrong" blames another than it names.
    let agrees = |thing: &Named| match thing.said {
        Some(Some(said)) => said == good,
        Some(None) => true,
        None => thing.introduced && good,
    };
    let things: Vec<Named> = named(message).into_iter().filter(agrees).collect();
    if let Some(at) = things.iter().position(Named::points_back) {
        return things.into_iter().nth(at);
    }
    let corrects = [Cue::Correction, Cue::Want, Cue::Retry].iter().any(|cue| message.has(*cue));
    if corrects || opens_here(message) || is_bare(message) {
        return None;
    }
    let thanks = message.has(Cue::Thanks);
    let has_name = |thing: &Named| {
        let least = if thing.said.is_some() { 1 } else { TELLING };
        // "Yes, perfect. Is the price range high?" praises no price range.
        let meant = thing.said == Some(Some(good)) || (good && thanks);
        meant && thing.noun != Noun::Part && thing.words.len() >= least
    };
    things.into_iter().find(has_name)
}

/// The last turn, unless the name says enough and neither resembles it nor occurs in it.
fn previous_or_nobody(
    rule: &TargetRule,
    thing: &Named,
    remark: &Vector,
    previous: &PastTurn<'_>,
) -> Target {
    let telling = thing.words.len() >= TELLING && thing.said.is_some();
    if !telling {
        return Target::Previous;
    }
    unless_unlike(rule, thing, remark, previous)
}

/// The last turn, unless the name neither resembles it nor occurs in it.
fn unless_unlike(
    rule: &TargetRule,
    thing: &Named,
    remark: &Vector,
    previous: &PastTurn<'_>,
) -> Target {
    let resembles = scored(rule, remark, previous).score >= rule.floor;
    if resembles || place::names_any(previous, &thing.words) {
        return Target::Previous;
    }
    Target::Nobody
}

fn scored(rule: &TargetRule, remark: &Vector, turn: &PastTurn<'_>) -> Located {
    let answer = built_in().embed(answer_head(turn.answer));
    let question = built_in().embed(turn.question);
    let candidate =
        Candidate { turn: turn.turn, question: &question, answer: Some(&answer), age: turn.age };
    score(rule, remark, &candidate)
}

/// A turn that the remark might be about.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The turn.
    pub turn: &'a TurnId,
    /// The direction of its question.
    pub question: &'a Vector,
    /// The direction of its answer, if there is one.
    pub answer: Option<&'a Vector>,
    /// Time since.
    pub age: Duration,
}

/// A candidate and how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The turn.
    pub turn: TurnId,
    /// Likeness and recency together.
    pub score: f64,
    /// The better of the likeness to question and answer.
    pub similarity: f64,
}

/// Ranks the candidates; only those above the floor, the best first.
pub fn locate(rule: &TargetRule, remark: &Vector, candidates: &[Candidate<'_>]) -> Vec<Located> {
    let mut found: Vec<Located> = candidates
        .iter()
        .filter(|candidate| candidate.age <= rule.oldest)
        .map(|candidate| score(rule, remark, candidate))
        .filter(|located| located.score >= rule.floor)
        .collect();
    found.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| a.turn.as_str().cmp(b.turn.as_str()))
    });
    found.truncate(rule.top_k);
    found
}

fn score(rule: &TargetRule, remark: &Vector, candidate: &Candidate<'_>) -> Located {
    let likeness = |other: &Vector| remark.cosine(other).map_or(0.0, f64::from);
    let similarity =
        likeness(candidate.question).max(candidate.answer.map_or(0.0, likeness)).max(0.0);
    let recency = (-candidate.age.as_secs_f64() / rule.half_life.as_secs_f64()).exp2();
    let score = rule.similarity_weight * similarity + (1.0 - rule.similarity_weight) * recency;
    Located { turn: candidate.turn.clone(), score, similarity }
}
