//! The encoder: tokens in, scores and the part of the message that speaks for a rejection out.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use pulp::NullaryFnOnce;
#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};

use crate::arithmetic::{LayerNorm, gelu};
use crate::attention::Attention;
use crate::lanes::{Lanes, Portable, Width};
use crate::linear::{Linear, Quantized, TILE};
use crate::sequence::{Sequence, TextPart, Texts, build_sequence};

/// Numbers per token.
pub(crate) const DIMS: usize = 384;
/// Scores of the head: rejected, accepted, neutral.
pub(crate) const SCORES: usize = 3;
/// Numbers of the head's input per score: the first token's and the mean's.
const HEAD_INPUTS: usize = 2 * DIMS;

pub struct Reader {
    pub(crate) words: &'static [i8],
    pub(crate) word_scales: Vec<f32>,
    /// Positions, plus the constant that marks the first segment.
    pub(crate) positions: Vec<f32>,
    pub(crate) input_norm: LayerNorm,
    pub(crate) blocks: Vec<Block>,
    pub(crate) head: Vec<f32>,
    pub(crate) head_bias: Vec<f32>,
}

/// One layer: attention, then a feed-forward network.
pub(crate) struct Block {
    pub(crate) query: Linear,
    pub(crate) key: Linear,
    pub(crate) value: Linear,
    pub(crate) output: Linear,
    pub(crate) attention_norm: LayerNorm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) output_norm: LayerNorm,
}

/// The reader's judgement. Scores are log-odds before calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub rejected: f32,
    pub accepted: f32,
    /// Bytes of the message that speak most for a rejection.
    pub evidence: Option<Range<usize>>,
}

impl Reader {
    /// Reads with the widest instructions of this CPU. Takes milliseconds.
    pub fn read(&self, texts: &Texts<'_>) -> Reading {
        self.read_with(Width::Widest, texts)
    }

    fn read_with(&self, width: Width, texts: &Texts<'_>) -> Reading {
        let sequence = build_sequence(texts);
        ReadTask { reader: self, sequence: &sequence }.dispatch(width)
    }

    /// Embeddings of the tokens, in rows, padded to whole tiles.
    #[inline(always)]
    fn embed(&self, tokens: &[u32]) -> Vec<f32> {
        let mut rows = vec![0.0; tokens.len().next_multiple_of(TILE) * DIMS];
        for (at, token) in tokens.iter().enumerate() {
            let token = *token as usize;
            let word = &self.words[token * DIMS..(token + 1) * DIMS];
            let position = &self.positions[at * DIMS..(at + 1) * DIMS];
            let row = &mut rows[at * DIMS..(at + 1) * DIMS];
            for d in 0..DIMS {
                row[d] = f32::from(word[d]) * self.word_scales[token] + position[d];
            }
        }
        self.input_norm.apply(&mut rows);
        rows
    }

    #[inline(always)]
    fn score(&self, rows: &[f32], tokens: usize) -> [f32; SCORES] {
        let mut inputs = [0.0f32; HEAD_INPUTS];
        inputs[..DIMS].copy_from_slice(&rows[..DIMS]);
        for row in rows.chunks_exact(DIMS).take(tokens) {
            for d in 0..DIMS {
                inputs[DIMS + d] += row[d] / tokens as f32;
            }
        }
        std::array::from_fn(|score| {
            let weights = &self.head[score * HEAD_INPUTS..(score + 1) * HEAD_INPUTS];
            let products = weights.iter().zip(&inputs);
            products.fold(self.head_bias[score], |total, (w, x)| total + w * x)
        })
    }

    /// The share of a token in the score of a rejection through the mean.
    fn attribute(&self, row: &[f32]) -> f32 {
        let mean_weight = |score: usize, d: usize| self.head[score * HEAD_INPUTS + DIMS + d];
        let weight = |d| mean_weight(0, d) - (mean_weight(1, d) + mean_weight(2, d)) / 2.0;
        row.iter().enumerate().fold(0.0, |total, (d, x)| total + weight(d) * x)
    }

    /// The run of tokens that adds most to a rejection, compared with the message's mean.
    fn find_evidence(&self, rows: &[f32], message: &[TextPart]) -> Option<Range<usize>> {
        let shares: Vec<f32> = message
            .iter()
            .map(|part| self.attribute(&rows[part.at * DIMS..(part.at + 1) * DIMS]))
            .collect();
        let mean = shares.iter().sum::<f32>() / shares.len().max(1) as f32;
        let (mut best, mut found) = (f32::MIN, None);
        let (mut total, mut start) = (0.0, 0);
        for (at, share) in shares.iter().enumerate() {
            if total <= 0.0 {
                (total, start) = (0.0, at);
            }
            total += share - mean;
            if total > best {
                (best, found) = (total, Some((start, at)));
            }
        }
        let (first, last) = found?;
        let bytes = message[first].bytes.start..message[last].bytes.end;
        // Parts of the beginning and of the end of a long message do not make one span.
        (bytes.len() <= MAX_EVIDENCE_BYTES).then_some(bytes)
    }
}

const MAX_EVIDENCE_BYTES: usize = 400;

struct ReadTask<'a> {
    reader: &'a Reader,
    sequence: &'a Sequence,
}

impl ReadTask<'_> {
    /// Reads with the widest instructions of this CPU up to `max`.
    fn dispatch(self, max: Width) -> Reading {
        #[cfg(target_arch = "x86_64")]
        if max == Width::Widest
            && let Some(lanes) = V4::try_new()
        {
            return lanes.vectorize(Bound { lanes, task: self });
        }
        #[cfg(target_arch = "x86_64")]
        if max != Width::Portable
            && let Some(lanes) = V3::try_new()
        {
            return lanes.vectorize(Bound { lanes, task: self });
        }
        self.run(Portable)
    }

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Reading {
        let tokens = self.sequence.tokens.len();
        let mut rows = self.reader.embed(&self.sequence.tokens);
        let mut buffers = Buffers::default();
        for block in &self.reader.blocks {
            block.apply(lanes, tokens, &mut rows, &mut buffers);
        }
        let [rejected, accepted, neutral] = self.reader.score(&rows, tokens);
        Reading {
            rejected: rejected - log_sum(accepted, neutral),
            accepted: accepted - log_sum(rejected, neutral),
            evidence: self.reader.find_evidence(&rows, &self.sequence.message),
        }
    }
}

/// A reading with the instructions that it may use.
#[cfg(target_arch = "x86_64")]
struct Bound<'a, L> {
    lanes: L,
    task: ReadTask<'a>,
}

#[cfg(target_arch = "x86_64")]
impl<L: Lanes> NullaryFnOnce for Bound<'_, L> {
    type Output = Reading;

    #[inline(always)]
    fn call(self) -> Reading {
        self.task.run(self.lanes)
    }
}

/// ln(e^a + e^b)
fn log_sum(a: f32, b: f32) -> f32 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high + crate::arithmetic::exp(low - high).ln_1p()
}

/// Buffers that are reused between layers.
#[derive(Default)]
struct Buffers {
    quantized: Quantized,
    attention: Attention,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    mixed: Vec<f32>,
    inner: Vec<f32>,
}

impl Block {
    #[inline(always)]
    fn apply<L: Lanes>(&self, lanes: L, tokens: usize, rows: &mut [f32], buffers: &mut Buffers) {
        let Buffers { quantized, attention, queries, keys, values, mixed, inner } = buffers;
        quantized.assign(rows, DIMS);
        self.query.apply(lanes, quantized, queries);
        self.key.apply(lanes, quantized, keys);
        self.value.apply(lanes, quantized, values);
        mixed.clear();
        mixed.resize(rows.len(), 0.0);
        attention.mix(tokens, DIMS, (queries, keys, values), mixed);
        quantized.assign(mixed, DIMS);
        self.output.apply(lanes, quantized, values);
        add(rows, values);
        self.attention_norm.apply(rows);
        quantized.assign(rows, DIMS);
        self.up.apply(lanes, quantized, inner);
        for value in inner.iter_mut() {
            *value = gelu(*value);
        }
        quantized.assign(inner, self.up.outputs());
        self.down.apply(lanes, quantized, values);
        add(rows, values);
        self.output_norm.apply(rows);
    }
}

#[inline(always)]
fn add(rows: &mut [f32], other: &[f32]) {
    for (value, other) in rows.iter_mut().zip(other) {
        *value += other;
    }
}

#[cfg(all(test, feature = "model"))]
mod tests {
    use super::*;
    use crate::built_in;

    const TEXTS: [Texts<'static>; 4] = [
        Texts {
            message: "no, I meant gaming laptops",
            question: "show me laptops under 1000",
            answer: "Here are 5 office laptops under 1000 euros.",
        },
        Texts { message: "thanks!", question: "", answer: "" },
        Texts { message: "", question: "", answer: "" },
        Texts {
            message: "それは違います 🙂", question: "что?", answer: "x\u{0}y\n\tz"
        },
    ];

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for texts in &TEXTS {
            let reader = built_in().unwrap();
            let portable = reader.read_with(Width::Portable, texts);
            for width in [Width::Avx2, Width::Widest] {
                assert_eq!(reader.read_with(width, texts), portable, "{width:?} {texts:?}");
            }
        }
    }
}
