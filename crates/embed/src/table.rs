//! The static table: a vector for each token; a text is the mean of its tokens.

use std::sync::{Arc, OnceLock};

use event::Vector;

use crate::fold;
use crate::wordpiece::Vocabulary;

/// Made by training/embed/train.py, which documents the layout.
static TABLE: &[u8] = include_bytes!("../model/table.bin");
/// Names this table. Changes whenever the file does: vectors of two tables never compare.
const MODEL: &str = "uptake-static-1";
const HEADER: usize = 16;
/// Tokens of a text that are read. Bounds the work; more changes a mean little.
const MOST_TOKENS: usize = 256;

/// The built-in model, read from the program's own bytes once.
pub fn built_in() -> &'static StaticModel {
    static MODEL: OnceLock<StaticModel> = OnceLock::new();
    MODEL.get_or_init(|| StaticModel::read(TABLE))
}

/// A table of token vectors and the vocabulary that finds them.
pub struct StaticModel {
    id: Arc<str>,
    dims: usize,
    scales: Vec<f32>,
    rows: &'static [u8],
    vocabulary: Vocabulary,
}

impl StaticModel {
    /// The committed file is the only input: anything wrong with it is a broken build.
    fn read(bytes: &'static [u8]) -> Self {
        let number = |at: usize| {
            let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            u32::from_le_bytes(word) as usize
        };
        assert!(bytes.starts_with(b"UPTE") && number(4) == 1, "table.bin is not a table");
        let (tokens, dims) = (number(8), number(12));
        let (scales, rest) = bytes[HEADER..].split_at(tokens * 4);
        let (rows, lines) = rest.split_at(tokens * dims);
        let scale = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        Self {
            id: MODEL.into(),
            dims,
            scales: scales.chunks_exact(4).map(scale).collect(),
            rows,
            vocabulary: Vocabulary::new(std::str::from_utf8(lines).unwrap_or_default()),
        }
    }

    /// The name that its vectors carry.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Numbers in a vector.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The tokens of a text, at most as many as a vector is made of.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(64);
        fold::words(text, |word| {
            self.vocabulary.pieces(word, |id| tokens.push(id));
            tokens.len() < MOST_TOKENS
        });
        tokens.truncate(MOST_TOKENS);
        tokens
    }

    /// The direction of a text; a text without words has none.
    pub fn embed(&self, text: &str) -> Vector {
        self.embed_tokens(&self.tokens(text))
    }

    /// The direction of a text that is already cut into tokens.
    pub fn embed_tokens(&self, tokens: &[u32]) -> Vector {
        let mut sum = vec![0.0f32; self.dims];
        for &token in tokens {
            let scale = self.scales[token as usize];
            for (total, &byte) in sum.iter_mut().zip(self.row(token)) {
                *total += scale * f32::from(i8::from_le_bytes([byte]));
            }
        }
        Vector::new(Arc::clone(&self.id), sum)
    }

    /// How much two tokens point the same way, times their weights.
    pub fn token_dot(&self, a: u32, b: u32) -> f32 {
        let products =
            self.row(a).iter().zip(self.row(b)).map(|(&x, &y)| {
                i32::from(i8::from_le_bytes([x])) * i32::from(i8::from_le_bytes([y]))
            });
        products.sum::<i32>() as f32 * self.scales[a as usize] * self.scales[b as usize]
    }

    /// How much a token weighs in the mean: rare words weigh more.
    pub fn token_weight(&self, token: u32) -> f32 {
        self.token_dot(token, token).sqrt()
    }

    fn row(&self, token: u32) -> &'static [u8] {
        let at = token as usize * self.dims;
        &self.rows[at..at + self.dims]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        built_in().embed(a).cosine(&built_in().embed(b)).unwrap()
    }

    #[test]
    fn tokens_are_those_of_bert() {
        // As the reference tokenizer gives them.
        let expected = [2054, 2003, 23653, 4895, 7076, 9080, 2989, 1029];
        assert_eq!(built_in().tokens("What is Ünbelievable uninstalling?"), expected);
    }

    #[test]
    fn the_same_meaning_is_nearer_than_another() {
        let anchor = "How do I reset my password?";
        let same = cosine(anchor, "I forgot my login, how can I set a new password");
        let other = cosine(anchor, "What is a good recipe for lentil soup?");
        assert!(same > 0.5 && other < 0.3, "{same} {other}");
        assert!(cosine(anchor, anchor) > 0.999);
    }

    #[test]
    fn any_text_has_a_vector_and_empty_ones_have_no_direction() {
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
