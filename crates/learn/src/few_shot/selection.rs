//! Selects examples that are relevant to a query and different from each other, within a token
//! budget.

use std::cmp::Ordering;

use model::{Timestamp, UnitInterval, dot};

use super::pool::{ExamplePool, ExampleSource, OfferRank, StoredOffer};
use crate::question::{QuestionKey, fingerprint_text};

pub const MAX_NEAR_QUESTIONS: usize = 50;

/// Minimum similarity of an example's question to the query. Below it an example harms the answer
/// more than it helps. See bench/learning/README.md.
pub const SIMILARITY_FLOOR: f32 = 0.5;

#[derive(Clone, Copy, Debug)]
pub struct ExampleQuery<'a> {
    /// Query text. A question in the same words is found without the vector index.
    pub query: &'a str,
    /// Vector of the query, of length 1 or zero.
    pub vector: &'a [f32],
    pub k: usize,
    /// Token budget for all examples together, by estimate.
    pub max_tokens: Option<u32>,
    /// 0 selects the nearest, 1 the least redundant among the nearest.
    pub diversity: f64,
    /// Turns whose examples are left out, such as the current turn.
    pub excluded: &'a [&'a str],
}

#[derive(Clone, Debug)]
pub struct NearQuestion {
    pub question: QuestionKey,
    pub similarity: f32,
    pub vector: Vec<f32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SelectedExample<T> {
    pub payload: T,
    pub source: ExampleSource,
    pub rating: Option<UnitInterval>,
    pub similarity: f64,
    pub when: Timestamp,
    pub tokens: u32,
}

/// Selects examples by maximal marginal relevance, best first.
///
/// Each step takes the candidate most similar to the query and least similar to earlier picks. A
/// candidate over the remaining token budget is skipped. Ties go to the newer example.
pub fn select_examples<T: Clone>(
    pool: &ExamplePool<T>,
    query: &ExampleQuery<'_>,
    near: Vec<NearQuestion>,
) -> Vec<SelectedExample<T>> {
    let weight = (1.0 - query.diversity.clamp(0.0, 1.0)) as f32;
    let mut budget = query.max_tokens.unwrap_or(u32::MAX);
    let mut candidates = find_candidates(pool, query, near);
    let mut picked = Vec::with_capacity(query.k.min(candidates.len()));
    while picked.len() < query.k {
        candidates.retain(|candidate| candidate.stored.tokens <= budget);
        let score =
            |c: &ExampleCandidate<'_, T>| weight * c.similarity - (1.0 - weight) * c.redundancy;
        let best = (0..candidates.len()).max_by(|a, b| {
            let (a, b) = (&candidates[*a], &candidates[*b]);
            score(a).total_cmp(&score(b)).then_with(|| a.compare_relevance(b))
        });
        let Some(best) = best else { break };
        let chosen = candidates.swap_remove(best);
        budget -= chosen.stored.tokens;
        for candidate in &mut candidates {
            let similarity = dot(&candidate.vector, &chosen.vector).clamp(-1.0, 1.0);
            candidate.redundancy = candidate.redundancy.max(similarity);
        }
        picked.push(SelectedExample {
            payload: chosen.stored.payload.clone(),
            source: chosen.rank.source,
            rating: chosen.stored.rating,
            similarity: f64::from(chosen.similarity),
            when: chosen.rank.when,
            tokens: chosen.stored.tokens,
        });
    }
    picked
}

struct ExampleCandidate<'a, T> {
    rank: &'a OfferRank,
    stored: &'a StoredOffer<T>,
    similarity: f32,
    vector: Vec<f32>,
    /// Highest similarity to an example already picked.
    redundancy: f32,
}

fn find_candidates<'a, T>(
    pool: &'a ExamplePool<T>,
    query: &ExampleQuery<'_>,
    near: Vec<NearQuestion>,
) -> Vec<ExampleCandidate<'a, T>> {
    // The same words are an exact match, whether or not the index returned them.
    let same = QuestionKey::from_text(query.query).map(|question| NearQuestion {
        question,
        similarity: 1.0,
        vector: query.vector.to_vec(),
    });
    let others =
        near.into_iter().filter(|near| same.as_ref().is_none_or(|s| s.question != near.question));
    let mut others: Vec<NearQuestion> = others.collect();
    others.extend(same);
    let candidate = |near: NearQuestion| {
        let (rank, stored) = pool.find_best(near.question)?;
        let excluded = query.excluded.iter().any(|turn| rank.key.turn == fingerprint_text(turn));
        // NaN similarity fails this comparison too.
        let similar = near.similarity >= SIMILARITY_FLOOR;
        let similarity = near.similarity.min(1.0);
        (similar && !excluded).then_some(ExampleCandidate {
            rank,
            stored,
            similarity,
            vector: near.vector,
            redundancy: 0.0,
        })
    };
    let mut candidates: Vec<ExampleCandidate<'a, T>> =
        others.into_iter().filter_map(candidate).collect();
    candidates.sort_by(|a, b| b.compare_relevance(a));
    candidates.dedup_by_key(|candidate| candidate.rank.question);
    candidates.truncate(MAX_NEAR_QUESTIONS);
    candidates
}

impl<T> ExampleCandidate<'_, T> {
    /// Orders by similarity, then recency. The remaining keys only make the order total.
    fn compare_relevance(&self, other: &Self) -> Ordering {
        self.similarity
            .total_cmp(&other.similarity)
            .then_with(|| self.rank.when.cmp(&other.rank.when))
            .then_with(|| self.rank.source.cmp(&other.rank.source))
            .then_with(|| self.rank.question.cmp(&other.rank.question))
    }
}

/// Estimates the number of tokens of a text, erring on the high side.
///
/// Byte-pair vocabularies use about one token per four English letters, two letters of another
/// alphabet, or one Chinese or Japanese character. About every second symbol of SQL or code is a
/// token.
pub fn estimate_tokens(text: &str) -> u32 {
    let quarters: u64 = text.chars().map(quarter_tokens).sum();
    u32::try_from(quarters.div_ceil(4)).unwrap_or(u32::MAX)
}

fn quarter_tokens(c: char) -> u64 {
    match c {
        'a'..='z' | 'A'..='Z' | ' ' | '\n' => 1,
        // Digits form tokens of up to three.
        '0'..='9' | '\0'..='\u{2e7f}' => 2,
        '\u{2e80}'..=char::MAX => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_estimate_depends_on_the_script() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("word", 1),
            ("four letters make a token", 7),
            ("売上合計", 4),
            ("a == b;", 3),
        ] {
            assert_eq!(estimate_tokens(text), tokens, "{text}");
        }
    }
}
