//! The few examples that are shown: near the query, and unlike each other.

use std::cmp::Ordering;

use model::{Timestamp, UnitInterval, dot};

use super::pool::{Best, ExamplePool, ExampleSource};
use crate::question::QuestionKey;

/// So many of the nearest are worth choosing among.
pub const WITHIN: usize = 50;

/// A question less alike than this is about something else, and an example of something else is
/// worse than none: it draws the answer away. See bench/learning/README.md.
pub const SIMILARITY_FLOOR: f32 = 0.5;

/// What is asked of a selection.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// The query's own words: a question that was asked in the same words is found without vectors.
    pub query: &'a str,
    /// The query's vector, of length 1 or zero.
    pub vector: &'a [f32],
    /// How many are wanted.
    pub k: usize,
    /// How many tokens all of them may have together, by estimate.
    pub max_tokens: Option<u32>,
    /// 0: the nearest; 1: the least alike among the nearest.
    pub diversity: f64,
    /// Turns whose examples are left out: the one that asks, for instance.
    pub excluded: &'a [&'a str],
}

/// A question that an index found near the query.
#[derive(Clone, Debug)]
pub struct NearQuestion {
    /// Which.
    pub question: QuestionKey,
    /// The cosine to the query.
    pub similarity: f32,
    /// Its vector, of length 1.
    pub vector: Vec<f32>,
}

/// An example that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected<T> {
    /// Where its words are, or the words themselves.
    pub words: T,
    /// Why it is good.
    pub source: ExampleSource,
    /// How it was rated, if it was.
    pub rating: Option<UnitInterval>,
    /// The cosine of its question to the query.
    pub similarity: f64,
    /// When it was given.
    pub when: Timestamp,
    /// How long it is, by estimate.
    pub tokens: u32,
}

/// Picks from what lies near, one by one: each time the one that is most like the query and least
/// like what was picked before (maximal marginal relevance). One that no longer fits the budget is
/// passed over for a shorter one. Of equals the newer comes first. The best first.
pub fn select<T: Clone>(
    pool: &ExamplePool<T>,
    asked: &Selection<'_>,
    near: Vec<NearQuestion>,
) -> Vec<Selected<T>> {
    let weight = (1.0 - asked.diversity.clamp(0.0, 1.0)) as f32;
    let mut left = asked.max_tokens.unwrap_or(u32::MAX);
    let mut candidates = candidates(pool, asked, near);
    let mut picked = Vec::with_capacity(asked.k.min(candidates.len()));
    while picked.len() < asked.k {
        candidates.retain(|candidate| candidate.held.tokens <= left);
        let scored = |c: &Candidate<'_, T>| weight * c.similarity - (1.0 - weight) * c.likeness;
        let best = (0..candidates.len()).max_by(|a, b| {
            let (a, b) = (&candidates[*a], &candidates[*b]);
            scored(a).total_cmp(&scored(b)).then_with(|| a.compare(b))
        });
        let Some(best) = best else { break };
        let chosen = candidates.swap_remove(best);
        left -= chosen.held.tokens;
        for candidate in &mut candidates {
            let likeness = dot(&candidate.vector, &chosen.vector).clamp(-1.0, 1.0);
            candidate.likeness = candidate.likeness.max(likeness);
        }
        picked.push(chosen.selected());
    }
    picked
}

struct Candidate<'a, T> {
    question: QuestionKey,
    held: Best<'a, T>,
    similarity: f32,
    vector: Vec<f32>,
    /// How like it is to the most alike that was picked.
    likeness: f32,
}

/// The examples of the nearest questions that may be shown.
fn candidates<'a, T>(
    pool: &'a ExamplePool<T>,
    asked: &Selection<'_>,
    near: Vec<NearQuestion>,
) -> Vec<Candidate<'a, T>> {
    // In the same words: nothing can be nearer, and no index can have missed it.
    let same = QuestionKey::of(asked.query).map(|question| NearQuestion {
        question,
        similarity: 1.0,
        vector: asked.vector.to_vec(),
    });
    let others =
        near.into_iter().filter(|near| same.as_ref().is_none_or(|s| s.question != near.question));
    let mut others: Vec<NearQuestion> = others.collect();
    others.extend(same);
    let candidate = |near: NearQuestion| {
        let held = pool.best(near.question)?;
        let excluded = asked.excluded.iter().any(|turn| held.is_of(turn));
        // Not a number is not near either.
        let alike = near.similarity >= SIMILARITY_FLOOR;
        let similarity = near.similarity.min(1.0);
        (alike && !excluded).then_some(Candidate {
            question: near.question,
            held,
            similarity,
            vector: near.vector,
            likeness: 0.0,
        })
    };
    let mut candidates: Vec<Candidate<'a, T>> = others.into_iter().filter_map(candidate).collect();
    candidates.sort_by(|a, b| b.compare(a));
    candidates.dedup_by_key(|candidate| candidate.question);
    candidates.truncate(WITHIN);
    candidates
}

impl<T> Candidate<'_, T> {
    /// The nearer, then the newer; the rest only so that equals have an order.
    fn compare(&self, other: &Self) -> Ordering {
        self.similarity
            .total_cmp(&other.similarity)
            .then_with(|| self.held.when.cmp(&other.held.when))
            .then_with(|| self.held.source.cmp(&other.held.source))
            .then_with(|| self.question.cmp(&other.question))
    }
}

impl<T: Clone> Candidate<'_, T> {
    fn selected(&self) -> Selected<T> {
        let Best { words, source, rating, when, tokens, .. } = &self.held;
        Selected {
            words: (*words).clone(),
            source: *source,
            rating: *rating,
            similarity: f64::from(self.similarity),
            when: *when,
            tokens: *tokens,
        }
    }
}
