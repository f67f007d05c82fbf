//! The plain similarity: the cosine, corrected by shared letters, the worst counterpart of a token
//! and the learnt model.
//!
//! `pair-blend.txt` is fitted by `uptake-fit pair`: per part its mean, its spread and its weight,
//! and the curve from their sum to the scale of the teacher's cosine.

use std::sync::LazyLock;

use super::features::{COSINE, LEAST_CONTAINED_TRIGRAMS, WORST_ALIGNED};
use crate::utterance::Utterance;
use crate::wide_deep::Features;

static BLEND: &str = include_str!("../../model/pair-blend.txt");

/// Mean words of both messages up to which the comparison of single tokens counts in full. In longer
/// texts one token matters less.
const MAX_QUESTION_WORDS: f64 = 12.0;

/// The parts of the similarity of two messages, in the order of [`PAIR_BLEND_PARTS`].
pub(super) fn find_parts(
    a: &Utterance,
    b: &Utterance,
    features: &Features,
    learnt_sum: f32,
) -> [f64; 4] {
    let words = (a.word_hashes.len() + b.word_hashes.len()) as f64 / 2.0;
    let focus = (MAX_QUESTION_WORDS / words.max(1.0)).min(1.0);
    let dense = |at: usize| f64::from(features.dense[at]);
    [
        dense(COSINE),
        dense(LEAST_CONTAINED_TRIGRAMS),
        dense(WORST_ALIGNED) * focus,
        f64::from(learnt_sum) * focus,
    ]
}

pub const PAIR_BLEND_PARTS: [&str; 4] = ["cosine", "trigrams", "aligned", "learnt"];

#[derive(Clone, Copy, Debug)]
struct Part {
    mean: f64,
    spread: f64,
    weight: f64,
}

struct Blend {
    parts: [Part; 4],
    slope: f64,
    offset: f64,
}

static LOADED: LazyLock<Blend> = LazyLock::new(|| {
    let parts = PAIR_BLEND_PARTS.map(|name| {
        let [mean, spread, weight] = read_line(name);
        Part { mean, spread, weight }
    });
    let [slope, offset] = read_line("curve");
    Blend { parts, slope, offset }
});

/// The numbers of a line. Panics when the committed file lacks it.
fn read_line<const N: usize>(name: &str) -> [f64; N] {
    let line = BLEND.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let numbers = line.unwrap_or_default().split(' ').filter_map(|number| number.parse().ok());
    let numbers: Result<[f64; N], _> = numbers.collect::<Vec<f64>>().try_into();
    assert!(numbers.is_ok(), "pair-blend.txt lacks {name}; run `make models` to rebuild it");
    numbers.unwrap_or([0.0; N])
}

/// The similarity on the scale of the teacher's cosine.
pub(super) fn blend_parts(parts: [f64; 4]) -> f64 {
    let weighed = LOADED.parts.iter().zip(parts);
    let sum: f64 = weighed.map(|(part, x)| part.weight * (x - part.mean) / part.spread).sum();
    1.0 / (1.0 + (-(LOADED.slope * sum + LOADED.offset)).exp())
}
