//! Weighs the evidence of all turns: a linear score per turn, and a softmax over the turns.
//!
//! The alternatives are the last turn, each earlier turn with evidence, and "another turn" for all
//! turns without. The weights were fitted on written conversations and rounded.

use embed::built_in;
use model::VerdictStatus;

use super::PastTurn;
use super::evidence::{Evidence, MessageTerms};
use crate::target::answer_head;
use crate::utterance::Utterance;

/// Turns without evidence whose similarity counts.
const MAX_SIMILAR_TURNS: usize = 8;

/// The turns that a message may name.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedTurns<'a> {
    /// Candidates, newest first.
    pub past: &'a [PastTurn<'a>],
    /// The turn that order words name.
    pub ordered: Option<usize>,
    /// True for a user who takes a complaint back, and so means a rejected turn.
    pub withdraws: bool,
}

/// The likeliest turn of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranking {
    /// Index of the likeliest turn, newest first; `None` for a turn without evidence.
    pub best: Option<usize>,
    pub probability: f64,
    /// Difference to the probability of the next turn.
    pub lead: f64,
    pub similarity: f64,
    /// True when another earlier turn has the same evidence.
    pub is_tied: bool,
    /// Number of terms that the likeliest turn holds.
    pub terms: f64,
}

/// A turn that the message may concern, or all turns without evidence.
#[derive(Clone, Copy, Debug, Default)]
struct Alternative {
    at: Option<usize>,
    evidence: Evidence,
    is_last: bool,
    is_first: bool,
    is_ordered: bool,
    is_withdrawn: bool,
    /// An earlier turn alone holds a term of the message.
    is_contested: bool,
    unknown: f64,
    /// Cosine of the message with the question and the answer, less that of the last turn.
    question_cosine: f64,
    answer_cosine: f64,
}

impl Alternative {
    fn score(&self) -> f64 {
        const MAX_OWN_TERMS: f64 = 3.0;
        let e = &self.evidence;
        let evidence = 1.4 * e.own_terms.min(MAX_OWN_TERMS)
            + 0.8 * e.shared_in_question
            + 1.8 * e.shared_in_answer
            + 6.0 * e.your
            + 0.7 * e.names
            + 2.9 * e.related
            + 1.7 * e.head_in_question
            + 1.6 * e.head_in_answer
            + 0.5 * e.head_shared;
        let similarity = if self.at.is_some() {
            2.1 * self.question_cosine + 6.3 * self.answer_cosine
        } else {
            -1.2 + 8.4 * self.question_cosine + 6.5 * self.answer_cosine
        };
        let unknown = if self.is_contested { -2.0 } else { -1.5 };
        let last = if self.is_last { 0.9 + unknown * self.unknown } else { 0.0 };
        // The first turn opens the subject, so later messages often share words with it.
        let first = if self.is_first { -0.7 } else { 0.0 };
        let ordered = if self.is_ordered { 4.7 } else { 0.0 };
        // Too rare in the conversations to be fitted.
        let withdrawn = if self.is_withdrawn { 2.0 } else { 0.0 };
        evidence + similarity + last + first + ordered + withdrawn
    }
}

/// Ranks the turns of `past` (newest first, not empty).
/// `stated` marks the words that belong to statements.
pub(super) fn rank_turns(
    message: &Utterance,
    stated: &[bool],
    turns: &NamedTurns<'_>,
) -> Option<Ranking> {
    let alternatives = alternatives(message, stated, turns);
    let scores: Vec<f64> = alternatives.iter().map(Alternative::score).collect();
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let parts: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let total: f64 = parts.iter().sum();
    // The first of equal scores is the newer turn.
    let best = scores.iter().position(|score| *score == most)?;
    let others = parts.iter().enumerate().filter(|(at, _)| *at != best);
    let next = others.map(|(_, part)| *part).fold(0.0, f64::max);
    let found = &alternatives[best];
    let is_tie = |(at, other): (usize, &Alternative)| {
        at != best && other.at.is_some() && !other.is_last && other.evidence == found.evidence
    };
    let is_tied = !found.is_ordered && alternatives.iter().enumerate().any(is_tie);
    Some(Ranking {
        is_tied,
        best: found.at,
        probability: parts[best] / total,
        lead: (parts[best] - next) / total,
        similarity: found.question_cosine.max(found.answer_cosine).clamp(0.0, 1.0),
        terms: found.evidence.terms,
    })
}

fn alternatives(message: &Utterance, stated: &[bool], turns: &NamedTurns<'_>) -> Vec<Alternative> {
    let NamedTurns { past, ordered, withdraws } = *turns;
    let oldest = past.len().saturating_sub(1);
    let terms = MessageTerms::read(message, stated);
    let (evidence, unknown) = terms.compare(past);
    let embeddable = terms.embeddable_share();
    let is_contested = evidence.iter().skip(1).any(|turn| turn.own_terms + turn.related > 0.0);
    let cosines = |turn: &PastTurn<'_>| {
        [turn.question, answer_head(turn.answer)].map(|text| {
            embeddable * message.vector().cosine(&built_in().embed(text)).map_or(0.0, f64::from)
        })
    };
    let last = past.first().map_or([0.0; 2], cosines);
    let mut found = Vec::new();
    let mut rest = Alternative::default();
    let mut rest_count = 0;
    for (at, (turn, evidence)) in past.iter().zip(evidence).enumerate() {
        let is_ordered = ordered == Some(at);
        let is_named = at == 0 || is_ordered || evidence.is_any();
        if !is_named && rest_count == MAX_SIMILAR_TURNS {
            continue;
        }
        let [question, answer] = if at == 0 { last } else { cosines(turn) };
        let (question, answer) = (question - last[0], answer - last[1]);
        if !is_named {
            let keep = |old: f64, new: f64| if rest_count == 0 { new } else { old.max(new) };
            rest.question_cosine = keep(rest.question_cosine, question);
            rest.answer_cosine = keep(rest.answer_cosine, answer);
            rest_count += 1;
            continue;
        }
        found.push(Alternative {
            at: Some(at),
            evidence,
            is_last: at == 0,
            is_first: at == oldest,
            is_ordered,
            is_withdrawn: withdraws && turn.status == VerdictStatus::Rejected,
            is_contested,
            unknown,
            question_cosine: question,
            answer_cosine: answer,
        });
    }
    found.push(rest);
    found
}
