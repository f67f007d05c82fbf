//! The similarity of two messages: the blend, with restatements raised and traps lowered.

use std::sync::LazyLock;

use super::blend::{blend_parts, find_parts};
use super::features::COSINE;
use super::restatement::Comparison;
use super::reversal::REVERSAL_FACTOR;
use crate::utterance::Utterance;
use crate::wide_deep::{Features, WideDeepModel};

pub(crate) static RESTATEMENT_MODEL: LazyLock<WideDeepModel> =
    LazyLock::new(|| WideDeepModel::load_committed(include_bytes!("../../model/restatement.bin")));

/// Cosine below which messages are not compared word by word. They never reach 0.7.
pub(crate) const MIN_COMPARED_COSINE: f32 = 0.4;
/// Lowest similarity of a restatement, and the probability of the model that it stands for.
const MIN_RESTATED: f64 = 0.85;
const MIN_RESTATEMENT_PROBABILITY: f64 = 0.64;
/// Similarity below which a restatement needs a more certain model, and by how much.
const EXPECTED_SIMILARITY: f64 = 0.8;
const SIMILARITY_SHARE: f64 = 0.25;
/// Words of the shorter message up to which it is a question and no text.
const MAX_RESTATED_WORDS: usize = 12;
/// Share of the content that a restatement has in common.
const MIN_SHARED: f32 = 0.25;
/// Content words that it has in common. A single one may be all that an answer is about.
const MIN_SHARED_WORDS: usize = 2;
/// Similarities of traps above this are mapped between it and the last one.
const TRAP_COMPRESSION_START: f64 = 0.75;
/// The same where the shorter message has at least so many words. Paragraphs with the same meaning
/// often differ in a number or a name.
const LONG_TRAP_COMPRESSION_START: f64 = 0.79;
const MIN_LONG_WORDS: usize = 16;
const MAX_TRAP: f64 = 0.799;
/// Mean words up to which a reversal is all that a message says.
const MAX_REVERSED_WORDS: usize = 12;
/// Probability of a restatement below which words of another meaning make a trap.
const MAX_TRAP_PROBABILITY: f64 = 0.3;
/// Similarity of messages that differ only in spelling.
const RESPELLED: f64 = 0.98;

/// The similarity from the features and the sum of the learnt model.
pub(super) fn score_similarity(
    a: &Utterance,
    b: &Utterance,
    features: &Features,
    learnt_sum: f32,
) -> f64 {
    let plain = blend_parts(find_parts(a, b, features, learnt_sum));
    let shorter = a.word_hashes.len().min(b.word_hashes.len());
    let is_text = shorter > MAX_RESTATED_WORDS;
    if features.dense[COSINE] < MIN_COMPARED_COSINE || is_text && plain <= TRAP_COMPRESSION_START {
        return plain;
    }
    let found = Comparison::new(a, b);
    if found.differences.is_exact() {
        let words = (a.word_hashes.len() + b.word_hashes.len()) / 2;
        let reverses = found.differences.reversal && words <= MAX_REVERSED_WORDS;
        return if reverses { plain * REVERSAL_FACTOR } else { compress_trap(plain, shorter) };
    }
    if found.overlap.is_respelled {
        return plain.max(RESPELLED);
    }
    let overlap = found.overlap;
    let is_too_different = overlap.shared < MIN_SHARED || overlap.matched_words < MIN_SHARED_WORDS;
    if is_too_different || is_text && !overlap.is_verbatim {
        return plain;
    }
    let features = found.features(learnt_sum);
    let probability = f64::from(RESTATEMENT_MODEL.predict_probability(&features));
    if found.differences.is_probable() && probability < MAX_TRAP_PROBABILITY {
        compress_trap(plain, shorter)
    } else {
        raise_restatement(plain, probability)
    }
}

/// The similarity, or that of a restatement when the model is sure enough.
fn raise_restatement(plain: f64, probability: f64) -> f64 {
    let doubt = (log_odds(plain) - log_odds(EXPECTED_SIMILARITY)).min(0.0);
    let sum = log_odds(probability) + SIMILARITY_SHARE * doubt;
    let probability = 1.0 / (1.0 + (-sum).exp());
    let above = (probability - MIN_RESTATEMENT_PROBABILITY) / (1.0 - MIN_RESTATEMENT_PROBABILITY);
    if above >= 0.0 { plain.max(MIN_RESTATED + (1.0 - MIN_RESTATED) * above) } else { plain }
}

/// Lowers a trap below the thresholds. Among traps the order stays.
fn compress_trap(plain: f64, words: usize) -> f64 {
    let is_long = words >= MIN_LONG_WORDS;
    let start = if is_long { LONG_TRAP_COMPRESSION_START } else { TRAP_COMPRESSION_START };
    if plain <= start {
        return plain;
    }
    start + (plain - start) / (1.0 - start) * (MAX_TRAP - start)
}

fn log_odds(p: f64) -> f64 {
    let p = p.clamp(1e-4, 1.0 - 1e-4);
    (p / (1.0 - p)).ln()
}
