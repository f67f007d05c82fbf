//! Evidence that a message concerns a turn: the terms that both hold.
//!
//! A term of the message that only one turn holds points at that turn. A term that several turns
//! hold is shared among them. The first term of the judged clause and a term behind "your" name
//! what is judged, so they have features of their own.

use super::PastTurn;
use super::terms::{Term, content_terms, is_contrast, is_judging, is_your, rarity};
use crate::phrases::Cue;
use crate::references::is_ordinal;
use crate::target::answer_head;
use crate::text::FoldedText;
use crate::utterance::Utterance;

/// Terms of a message that are compared.
const MAX_MESSAGE_TERMS: usize = 32;
/// Share of the evidence before a "but": what follows is judged.
const SHARE_BEFORE_CONTRAST: f64 = 0.25;
/// Share of a word that judges, such as "works", when it also occurs in a turn.
const JUDGING_SHARE: f64 = 0.3;
/// Minimum cosine of two words with a related meaning.
const MIN_COSINE: f64 = 0.35;

/// Evidence that a message concerns a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Evidence {
    /// Number of terms that this turn holds.
    pub terms: f64,
    /// Number of terms that only this turn holds.
    pub own_terms: f64,
    /// Weight of terms that other turns hold too, in this turn's question.
    pub shared_in_question: f64,
    /// The same for terms that only occur in answers.
    pub shared_in_answer: f64,
    /// Shared terms behind "your".
    pub your: f64,
    /// Capitalised terms that only this turn holds.
    pub names: f64,
    /// Weight of words with a related meaning.
    pub related: f64,
    /// First term of the judged clause: in the question, only in this answer, in several answers.
    pub head_in_question: f64,
    pub head_in_answer: f64,
    pub head_shared: f64,
}

impl Evidence {
    pub(super) fn is_any(&self) -> bool {
        let shared = self.shared_in_question + self.shared_in_answer;
        self.own_terms + shared + self.related > 0.0
    }
}

/// The terms of a message with their role in it.
pub(super) struct MessageTerms<'a> {
    terms: Vec<MessageTerm<'a>>,
}

struct MessageTerm<'a> {
    term: Term<'a>,
    is_judging: bool,
    follows_your: bool,
    precedes_contrast: bool,
    is_head: bool,
}

impl<'a> MessageTerms<'a> {
    pub(super) fn read(message: &'a Utterance, stated: &[bool]) -> Self {
        let words: Vec<_> = message.text.lexical_words().collect();
        let contrast = words.iter().rposition(|word| is_contrast(word.hash));
        let contrast = contrast.filter(|at| at + 1 < words.len());
        let judged = judged_words(message, words.len());
        let mut seen = Vec::new();
        let mut terms = Vec::new();
        for mut term in content_terms(&message.text) {
            let is_stated = stated.get(term.at).is_none_or(|stated| *stated);
            let is_repeated = seen.contains(&term.identity());
            if !is_stated || is_repeated || terms.len() == MAX_MESSAGE_TERMS {
                continue;
            }
            seen.push(term.identity());
            let word = words[term.at];
            let is_judging = judged[term.at] || is_judging(word.hash);
            if term.is_word() {
                let share = if is_judging { JUDGING_SHARE } else { 1.0 };
                term.weight = share * rarity(message.text.folded_word(word));
            }
            let before = words[..term.at].iter().rev().find(|word| !is_ordinal(word.hash));
            terms.push(MessageTerm {
                follows_your: before.is_some_and(|word| is_your(word.hash)),
                precedes_contrast: contrast.is_some_and(|at| term.at < at),
                is_judging,
                is_head: false,
                term,
            });
        }
        let is_head = |term: &&mut MessageTerm<'_>| !term.is_judging && !term.precedes_contrast;
        if let Some(head) = terms.iter_mut().find(is_head) {
            head.is_head = true;
        }
        Self { terms }
    }

    /// True when the message names anything that the turn does not hold.
    pub(super) fn goes_beyond(&self, turn: &PastTurn<'_>) -> bool {
        let texts = [FoldedText::new(turn.question), FoldedText::new(answer_head(turn.answer))];
        let held = texts.each_ref().map(content_terms);
        let is_new = |term: &MessageTerm<'_>| {
            !term.is_judging && term.strengths(&held).iter().all(|strength| *strength == 0.0)
        };
        self.terms.iter().any(is_new)
    }

    /// Share of the words that the embedding table holds, 0 to 1. Its language is English.
    pub(super) fn embeddable_share(&self) -> f64 {
        let words = || self.terms.iter().filter(|term| term.term.is_word());
        let known = words().filter(|term| term.term.is_embeddable()).count();
        known as f64 / words().count().max(1) as f64
    }

    /// Evidence for each turn of `past`, and the share of terms that no turn holds.
    pub(super) fn compare(&self, past: &[PastTurn<'_>]) -> (Vec<Evidence>, f64) {
        let texts: Vec<[FoldedText; 2]> = past
            .iter()
            .map(|turn| [FoldedText::new(turn.question), FoldedText::new(answer_head(turn.answer))])
            .collect();
        let turns: Vec<[Vec<Term<'_>>; 2]> =
            texts.iter().map(|[q, a]| [content_terms(q), content_terms(a)]).collect();
        let mut evidence = vec![Evidence::default(); past.len()];
        let mut unknown = 0;
        for term in &self.terms {
            let strengths: Vec<[f64; 2]> = turns.iter().map(|turn| term.strengths(turn)).collect();
            if strengths.iter().flatten().all(|strength| *strength == 0.0) {
                unknown += usize::from(!term.is_judging);
                term.add_related(&turns, &mut evidence);
            } else {
                term.add_matches(&strengths, &mut evidence);
            }
        }
        (evidence, unknown.min(MAX_UNKNOWN) as f64 / MAX_UNKNOWN as f64)
    }
}

/// Unknown terms above this number add nothing.
const MAX_UNKNOWN: usize = 4;

/// Words covered by a phrase that judges or thanks.
fn judged_words(message: &Utterance, count: usize) -> Vec<bool> {
    let judges = [
        Cue::Rejection,
        Cue::Quality,
        Cue::Dislike,
        Cue::Praise,
        Cue::Thanks,
        Cue::Sound,
        Cue::Harmless,
        Cue::OwnFault,
    ];
    let mut judged = vec![false; count];
    for hit in message.hits.iter().filter(|hit| judges.contains(&hit.cue)) {
        judged[hit.first..=hit.last].fill(true);
    }
    judged
}

impl MessageTerm<'_> {
    /// The best match in the question and in the answer.
    fn strengths(&self, turn: &[Vec<Term<'_>>; 2]) -> [f64; 2] {
        turn.each_ref().map(|terms| {
            terms.iter().map(|other| self.term.match_strength(other)).fold(0.0, f64::max)
        })
    }

    fn share(&self) -> f64 {
        if self.precedes_contrast { SHARE_BEFORE_CONTRAST } else { 1.0 }
    }

    fn add_matches(&self, strengths: &[[f64; 2]], evidence: &mut [Evidence]) {
        let asked = strengths.iter().filter(|[question, _]| *question > 0.0).count() as f64;
        let held = strengths.iter().filter(|[q, a]| q.max(*a) > 0.0).count() as f64;
        let is_own = held == 1.0;
        for ([question, answer], turn) in strengths.iter().zip(evidence) {
            let strength = question.max(*answer);
            if strength == 0.0 {
                continue;
            }
            let weight = self.share() * self.term.weight * strength;
            turn.terms += 1.0;
            if self.is_head && *question > 0.0 {
                turn.head_in_question += 1.0 / held;
            } else if self.is_head && asked == 0.0 {
                let head = if is_own { &mut turn.head_in_answer } else { &mut turn.head_shared };
                *head += 1.0 / held;
            }
            if is_own {
                turn.own_terms += self.share();
                turn.names += f64::from(u8::from(self.term.capital && self.term.at > 0));
            } else if *question > 0.0 {
                turn.shared_in_question += weight / asked;
            } else {
                turn.shared_in_answer += weight / held;
            }
            if self.follows_your && !is_own {
                turn.your += 1.0 / held;
            }
        }
    }

    /// A word that no turn holds points at the turn with the nearest meaning.
    fn add_related(&self, turns: &[[Vec<Term<'_>>; 2]], evidence: &mut [Evidence]) {
        if self.is_judging || !self.term.is_word() {
            return;
        }
        let nearest = |turn: &[Vec<Term<'_>>; 2]| {
            turn.iter().flatten().map(|other| self.term.cosine(other)).fold(MIN_COSINE, f64::max)
        };
        let cosines: Vec<f64> = turns.iter().map(nearest).collect();
        for (at, turn) in evidence.iter_mut().enumerate() {
            let others = cosines.iter().enumerate().filter(|(other, _)| *other != at);
            let second = others.map(|(_, cosine)| *cosine).fold(MIN_COSINE, f64::max);
            turn.related += self.share() * self.term.weight * (cosines[at] - second).max(0.0);
        }
    }
}
