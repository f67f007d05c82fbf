//! Reads the committed model file, which `training/reader/export.py` writes.
//!
//! Layout, little-endian: magic, version, then the tensors in the order in which they are read
//! here. A matrix of 8-bit weights is followed by one scale per row.

use crate::arithmetic::LayerNorm;
use crate::encoder::{Block, DIMS, Reader, SCORES};
use crate::linear::Linear;
use crate::sequence::MAX_SEQUENCE;

const MAGIC: &[u8] = b"UPTR\x01\0\0\0";
const INNER: usize = 1_536;
const LAYERS: usize = 6;
const WORDS: usize = 30_522;

/// The rest of the file.
struct Remaining(&'static [u8]);

impl Remaining {
    fn take_bytes(&mut self, count: usize) -> &'static [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn take_floats(&mut self, count: usize) -> Vec<f32> {
        let (floats, _) = self.take_bytes(count * 4).as_chunks::<4>();
        floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    fn take_weights(&mut self, rows: usize, columns: usize) -> &'static [i8] {
        bytemuck::cast_slice(self.take_bytes(rows * columns))
    }

    fn take_linear(&mut self, outputs: usize, inputs: usize) -> Linear {
        Linear {
            inputs,
            weights: self.take_weights(outputs, inputs),
            scales: self.take_floats(outputs),
            bias: self.take_floats(outputs),
        }
    }

    fn take_norm(&mut self) -> LayerNorm {
        LayerNorm { weight: self.take_floats(DIMS), bias: self.take_floats(DIMS) }
    }

    fn take_block(&mut self) -> Block {
        Block {
            query: self.take_linear(DIMS, DIMS),
            key: self.take_linear(DIMS, DIMS),
            value: self.take_linear(DIMS, DIMS),
            output: self.take_linear(DIMS, DIMS),
            attention_norm: self.take_norm(),
            up: self.take_linear(INNER, DIMS),
            down: self.take_linear(DIMS, INNER),
            output_norm: self.take_norm(),
        }
    }
}

/// Panics on an invalid file: the committed file is the only input.
pub(crate) fn parse_model(bytes: &'static [u8]) -> Reader {
    assert!(bytes.starts_with(MAGIC), "reader.bin is not a valid reader model");
    let mut rest = Remaining(&bytes[MAGIC.len()..]);
    let reader = Reader {
        words: rest.take_weights(WORDS, DIMS),
        word_scales: rest.take_floats(WORDS),
        positions: rest.take_floats(MAX_SEQUENCE * DIMS),
        input_norm: rest.take_norm(),
        blocks: (0..LAYERS).map(|_| rest.take_block()).collect(),
        head: rest.take_floats(SCORES * 2 * DIMS),
        head_bias: rest.take_floats(SCORES),
    };
    assert!(rest.0.is_empty(), "reader.bin has {} bytes too many", rest.0.len());
    reader
}
