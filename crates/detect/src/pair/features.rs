//! The learnt pair model: a small network over numbers that describe common and different parts.
//!
//! The model was fitted on built-in vectors and always uses them.

use std::sync::LazyLock;

use embed::built_in;

use super::reversal::{has_opposites, has_prefix_negation};
use super::set_overlap::{SetOverlap, count_shared};
use crate::answer_type::AnswerType;
use crate::utterance::Utterance;
use crate::wide_deep::{Features, WideDeepModel};

pub(crate) static PAIR_MODEL: LazyLock<WideDeepModel> =
    LazyLock::new(|| WideDeepModel::load_committed(include_bytes!("../../model/pair.bin")));

/// Indexes of features that the similarity uses too.
pub(super) const COSINE: usize = 0;
pub(super) const LEAST_CONTAINED_TRIGRAMS: usize = 8;
pub(super) const WORST_ALIGNED: usize = 13;

/// Input features of the pair model. Their order is fixed by the committed model.
pub fn pair_features(a: &Utterance, b: &Utterance) -> Features {
    let cosine = a.vector.cosine(&b.vector).unwrap_or(0.0);
    let words = SetOverlap::from_sorted(&a.stems, &b.stems);
    let trigrams = SetOverlap::from_hashed(&a.trigrams, &b.trigrams);
    let bigrams = SetOverlap::from_hashed(&a.bigrams, &b.bigrams);
    let difference = TokenDifference::new(a, b);
    let lengths = (a.word_hashes.len() as f32, b.word_hashes.len() as f32);
    let length_ratio = lengths.0.min(lengths.1) / lengths.0.max(lengths.1).max(1.0);
    let numbers = compare_sets(&a.numbers, &b.numbers);
    let names = compare_sets(&a.names, &b.names);
    let asks_alike = a.question_word == b.question_word;
    let types = (a.answer_type, b.answer_type);
    let types_differ = types.0 != types.1;
    let dense = vec![
        cosine,
        cosine * cosine,
        (cosine - 0.7).max(0.0) * 3.0,
        words.jaccard,
        words.containment,
        words.min_containment,
        trigrams.jaccard,
        trigrams.containment,
        trigrams.min_containment,
        bigrams.jaccard,
        difference.shared_weight.containment,
        difference.shared_weight.min_containment,
        difference.aligned,
        difference.worst_aligned,
        difference.mean_aligned,
        difference.heaviest_remaining / 2.0,
        difference.one_sided,
        numbers[0],
        numbers[1],
        names[0],
        names[1],
        f32::from((a.negations > 0) != (b.negations > 0)),
        f32::from(a.negations > 0 && b.negations > 0),
        f32::from(has_opposites(a, b)),
        f32::from(has_prefix_negation(a, b)),
        f32::from(asks_alike),
        f32::from(!asks_alike && a.question_word.is_some() && b.question_word.is_some()),
        f32::from(a.question_word.is_some() != b.question_word.is_some()),
        f32::from(types.0 == types.1 && types.0 != AnswerType::None),
        f32::from(types_differ && types.0 != AnswerType::None && types.1 != AnswerType::None),
        f32::from(types_differ && (types.0 == AnswerType::Entity || types.1 == AnswerType::Entity)),
        length_ratio,
        (lengths.0 + lengths.1).ln_1p() / 4.0,
        (lengths.0 - lengths.1).abs().ln_1p() / 3.0,
        f32::from(a.word_hashes.first() == b.word_hashes.first()),
        f32::from(a.word_hashes.last() == b.word_hashes.last()),
        f32::from(a.stems == b.stems && a.word_hashes != b.word_hashes),
        word_order_similarity(a, b),
        cosine * words.jaccard,
        cosine * difference.worst_aligned,
        difference.worst_aligned * length_ratio,
    ];
    Features { sparse: Vec::new(), dense }
}

/// Two features: both sets have entries that the other lacks, and only one of them has.
fn compare_sets(a: &[u32], b: &[u32]) -> [f32; 2] {
    let both = count_shared(a, b);
    let (left, right) = (a.len() > both, b.len() > both);
    [f32::from(left && right), f32::from(left != right)]
}

struct TokenDifference {
    shared_weight: SetOverlap,
    /// Similarity of the remaining tokens to their best counterpart: weighted mean and worst.
    aligned: f32,
    worst_aligned: f32,
    /// Mean similarity over all pairs of remaining tokens.
    mean_aligned: f32,
    heaviest_remaining: f32,
    one_sided: f32,
}

impl TokenDifference {
    fn new(a: &Utterance, b: &Utterance) -> Self {
        let (left, right, both) = split_tokens(&a.tokens, &b.tokens);
        let weight = |tokens: &[(u32, f32)]| tokens.iter().map(|t| t.1).sum::<f32>();
        let (aligned, worst_aligned, mean_aligned) = align_tokens(&left, &right);
        let heaviest_remaining = left.iter().chain(&right).map(|t| t.1).fold(0.0, f32::max);
        Self {
            shared_weight: SetOverlap::from_counts(both, weight(&a.tokens), weight(&b.tokens)),
            aligned,
            worst_aligned,
            mean_aligned,
            heaviest_remaining,
            one_sided: f32::from(left.is_empty() != right.is_empty()),
        }
    }
}

type WeightedTokens = Vec<(u32, f32)>;

/// Returns the tokens only in `a`, those only in `b`, and the weight of the shared ones.
fn split_tokens(a: &[(u32, f32)], b: &[(u32, f32)]) -> (WeightedTokens, WeightedTokens, f32) {
    let contains =
        |side: &[(u32, f32)], token: u32| side.binary_search_by_key(&token, |t| t.0).is_ok();
    let (shared, left): (WeightedTokens, WeightedTokens) =
        a.iter().partition(|(token, _)| contains(b, *token));
    let right = b.iter().copied().filter(|(token, _)| !contains(a, *token)).collect();
    (left, right, shared.iter().fold(0.0, |sum, (_, weight)| sum + weight))
}

/// Remaining tokens compared per side, heaviest first. Bounds the cost.
const MAX_ALIGNED_TOKENS: usize = 5;

/// Returns the weighted mean of each token's best similarity, the worst, and the mean over all
/// pairs.
fn align_tokens(left: &[(u32, f32)], right: &[(u32, f32)]) -> (f32, f32, f32) {
    let (left, right) = (select_heaviest(left), select_heaviest(right));
    if left.is_empty() && right.is_empty() {
        return (1.0, 1.0, 1.0);
    }
    let mut best = ([0.0f32; MAX_ALIGNED_TOKENS], [0.0f32; MAX_ALIGNED_TOKENS]);
    let mut total = 0.0;
    for (i, x) in left.iter().enumerate() {
        for (j, y) in right.iter().enumerate() {
            let alike = built_in().token_dot(x.0, y.0) / (x.1 * y.1).max(1e-6);
            best.0[i] = best.0[i].max(alike);
            best.1[j] = best.1[j].max(alike);
            total += alike;
        }
    }
    let all = left.iter().zip(best.0).chain(right.iter().zip(best.1));
    let (mut sum, mut weights, mut worst) = (0.0, 0.0, 0.0f32);
    for ((_, weight), alike) in all {
        sum += weight * alike;
        weights += weight;
        worst = worst.max(weight * (1.0 - alike));
    }
    let count = (left.len() * right.len()).max(1) as f32;
    (sum / weights.max(1e-6), 1.0 - worst / 2.0, total / count)
}

fn select_heaviest(side: &[(u32, f32)]) -> WeightedTokens {
    let mut side = side.to_vec();
    let heavier = |x: &(u32, f32), y: &(u32, f32)| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0));
    if side.len() > MAX_ALIGNED_TOKENS {
        side.select_nth_unstable_by(MAX_ALIGNED_TOKENS, heavier);
        side.truncate(MAX_ALIGNED_TOKENS);
    }
    side.sort_unstable_by(heavier);
    side
}

/// Fraction of shared words in the same order. Distinguishes "from A to B" from "from B to A".
fn word_order_similarity(a: &Utterance, b: &Utterance) -> f32 {
    (preserved_order_fraction(a, b) + preserved_order_fraction(b, a)) / 2.0
}

fn preserved_order_fraction(a: &Utterance, b: &Utterance) -> f32 {
    const MAX_ORDERED_WORDS: usize = 24;
    let place = |word: &u32| b.word_hashes.iter().take(MAX_ORDERED_WORDS).position(|b| b == word);
    let places: Vec<usize> =
        a.word_hashes.iter().take(MAX_ORDERED_WORDS).filter_map(place).collect();
    let kept = places.windows(2).filter(|pair| pair[0] <= pair[1]).count();
    if places.len() < 2 { 1.0 } else { kept as f32 / (places.len() - 1) as f32 }
}
