//! The static embedding model: one vector per token; a text is the mean of its tokens.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use model::Vector;

use crate::tokenizer::{Vocabulary, for_each_word};

/// Built by training/embed/train.py, which documents the layout.
static TABLE: &[u8] = include_bytes!("../model/table.bin");
/// Identifies the table. Must change with the file, because vectors of two tables are not
/// comparable.
const MODEL_ID: &str = "uptake-static-1";
const HEADER_BYTES: usize = 16;
/// Maximum tokens of a text. Bounds the work; further tokens barely change the mean.
const MAX_TOKENS: usize = 256;

pub fn built_in() -> &'static StaticModel {
    static MODEL: OnceLock<StaticModel> = OnceLock::new();
    MODEL.get_or_init(|| StaticModel::from_bytes(TABLE))
}

/// A token with the bytes of its word in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: u32,
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

pub struct StaticModel {
    id: Arc<str>,
    dims: usize,
    scales: Vec<f32>,
    whole_scales: Vec<i16>,
    weights: Vec<f32>,
    rows: &'static [u8],
    vocabulary: Vocabulary,
}

impl StaticModel {
    /// Panics on an invalid table: the committed file is the only input.
    fn from_bytes(bytes: &'static [u8]) -> Self {
        let number = |at: usize| {
            let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            u32::from_le_bytes(word) as usize
        };
        assert!(
            bytes.starts_with(b"UPTE") && number(4) == 2,
            "table.bin is not a valid embedding table"
        );
        let (tokens, dims) = (number(8), number(12));
        let (scales, rest) = bytes[HEADER_BYTES..].split_at(tokens * 4);
        let (weights, rest) = rest.split_at(tokens * 4);
        let (rows, lines) = rest.split_at(tokens * dims);
        let scale = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        let scales: Vec<f32> = scales.chunks_exact(4).map(scale).collect();
        let most = scales.iter().copied().fold(0.0, f32::max);
        Self {
            id: MODEL_ID.into(),
            dims,
            // 127 · 32,767 · 256 tokens stays below the maximum of an i32.
            whole_scales: scales.iter().map(|s| (s / most * 32_767.0).round() as i16).collect(),
            scales,
            weights: weights.chunks_exact(4).map(scale).collect(),
            rows,
            vocabulary: Vocabulary::new(std::str::from_utf8(lines).unwrap_or_default()),
        }
    }

    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Token ids of a text, at most 256.
    pub fn tokenize(&self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(64);
        for_each_word(text, |word, _| {
            self.vocabulary.for_each_piece(word, |id| tokens.push(id));
            tokens.len() < MAX_TOKENS
        });
        tokens.truncate(MAX_TOKENS);
        tokens
    }

    /// Tokens of a text, at most `max`, each with the bytes of its word.
    pub fn tokenize_with_ranges(&self, text: &str, max: usize) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(64);
        for_each_word(text, |word, Range { start, end }| {
            self.vocabulary.for_each_piece(word, |id| tokens.push(Token { id, start, end }));
            tokens.len() < max
        });
        tokens.truncate(max);
        tokens
    }

    /// Token id of a folded word that is one whole token. Ids are sorted by frequency.
    pub fn whole_token(&self, word: &str) -> Option<u32> {
        self.vocabulary.whole_token(word)
    }

    /// Unit-length embedding of a text; zero for a text without words.
    pub fn embed(&self, text: &str) -> Vector {
        self.embed_tokens(&self.tokenize(text))
    }

    pub fn embed_tokens(&self, tokens: &[u32]) -> Vector {
        // Integer arithmetic is fast without SIMD and gives the same result on every machine. The
        // scale of the sum does not matter, because the vector is normalised.
        let mut sum = vec![0i32; self.dims];
        for &token in tokens.iter().take(MAX_TOKENS) {
            let scale = self.whole_scales[token as usize];
            for (total, &byte) in sum.iter_mut().zip(self.token_row(token)) {
                *total += i32::from(i16::from(byte.cast_signed())) * i32::from(scale);
            }
        }
        Vector::new(Arc::clone(&self.id), sum.into_iter().map(|v| v as f32).collect())
    }

    /// Dot product of two token vectors, scaled by their weights.
    pub fn token_dot(&self, a: u32, b: u32) -> f32 {
        dot_i8(self.token_row(a), self.token_row(b)) as f32
            * self.scales[a as usize]
            * self.scales[b as usize]
    }

    /// Weight of a token in the mean; rare words weigh more.
    pub fn token_weight(&self, token: u32) -> f32 {
        self.weights[token as usize]
    }

    fn token_row(&self, token: u32) -> &'static [u8] {
        let at = token as usize * self.dims;
        &self.rows[at..at + self.dims]
    }
}

/// Dot product of two rows of signed bytes, in eight lanes for SIMD registers.
fn dot_i8(a: &[u8], b: &[u8]) -> i32 {
    let mut sums = [0i32; 8];
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            let product = i16::from(x[lane].cast_signed()) * i16::from(y[lane].cast_signed());
            sums[lane] += i32::from(product);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        built_in().embed(a).cosine(&built_in().embed(b)).unwrap()
    }

    #[test]
    fn token_ids_match_the_bert_reference() {
        // Expected ids come from the reference tokenizer.
        let expected = [2054, 2003, 23653, 4895, 7076, 9080, 2989, 1029];
        assert_eq!(built_in().tokenize("What is Ünbelievable uninstalling?"), expected);
    }

    #[test]
    fn paraphrase_is_nearer_than_another_topic() {
        let anchor = "How do I reset my password?";
        let same = cosine(anchor, "I forgot my login, how can I set a new password");
        let other = cosine(anchor, "What is a good recipe for lentil soup?");
        assert!(same > 0.5 && other < 0.3, "{same} {other}");
        assert!(cosine(anchor, anchor) > 0.999);
    }

    #[test]
    fn any_text_has_a_finite_vector_and_blank_text_is_zero() {
        let long = "word ".repeat(20_000);
        for text in
            ["", "   ", "\u{200b}", "🙂🙂", "שלום עולם", "日本語のテキスト", &long, "\u{0}\u{1}"]
        {
            let vector = built_in().embed(text);
            assert_eq!(vector.values().len(), 256);
            assert!(vector.values().iter().all(|v| v.is_finite()));
        }
        assert!(built_in().embed(" \n").is_zero());
    }
}
