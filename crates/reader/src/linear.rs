//! Linear layers with 8-bit weights. Activations are rounded to 8 bits a row.

use crate::arithmetic::{largest_size, round};
use crate::lanes::Lanes;

/// Rows and outputs that are computed together, so that each load is used several times.
pub(crate) const TILE: usize = 4;
/// Rows whose activations stay in the cache while the weights pass by.
const BLOCK_ROWS: usize = 16;
const MAX_LEVEL: f32 = 127.0;

pub(crate) struct Linear {
    pub(crate) inputs: usize,
    /// One row per output.
    pub(crate) weights: &'static [i8],
    /// Step of the weights of each output.
    pub(crate) scales: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Activations as whole numbers, with the step of each row.
#[derive(Default)]
pub(crate) struct Quantized {
    words: Vec<i16>,
    scales: Vec<f32>,
}

impl Quantized {
    #[inline(always)]
    pub(crate) fn assign(&mut self, values: &[f32], width: usize) {
        self.words.resize(values.len(), 0);
        self.scales.resize(values.len() / width, 0.0);
        let rows = values.chunks_exact(width).zip(self.words.chunks_exact_mut(width));
        for ((row, words), scale) in rows.zip(&mut self.scales) {
            let largest = largest_size(row);
            *scale = largest / MAX_LEVEL;
            let inverse = if largest > 0.0 { MAX_LEVEL / largest } else { 0.0 };
            for (word, value) in words.iter_mut().zip(row) {
                *word = round(value * inverse) as i16;
            }
        }
    }
}

impl Linear {
    pub(crate) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Writes one row of outputs per row of `x`. The number of rows is a multiple of `TILE`.
    #[inline(always)]
    pub(crate) fn apply<L: Lanes>(&self, lanes: L, x: &Quantized, out: &mut Vec<f32>) {
        let (inputs, outputs) = (self.inputs, self.outputs());
        let rows = x.scales.len();
        out.resize(rows * outputs, 0.0);
        for block in (0..rows).step_by(BLOCK_ROWS) {
            let block_end = rows.min(block + BLOCK_ROWS);
            for column in (0..outputs).step_by(TILE) {
                let weights = tile_rows(self.weights, inputs, column);
                for row in (block..block_end).step_by(TILE) {
                    let words = tile_rows(&x.words, inputs, row);
                    let sums = multiply_tile(lanes, &words, &weights, inputs);
                    for (r, sums) in sums.iter().enumerate() {
                        let at = (row + r) * outputs + column;
                        for (c, sum) in sums.iter().enumerate() {
                            let scale = x.scales[row + r] * self.scales[column + c];
                            out[at + c] = *sum as f32 * scale + self.bias[column + c];
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn tile_rows<T>(matrix: &[T], width: usize, first: usize) -> [&[T]; TILE] {
    let mut rows = [&matrix[first * width..(first + 1) * width]; TILE];
    for (at, row) in rows.iter_mut().enumerate() {
        *row = &matrix[(first + at) * width..(first + at + 1) * width];
    }
    rows
}

/// Products of `TILE` rows and `TILE` columns. Plain loops: adapters of arrays are not always
/// inlined, and then the sums do not stay in registers.
#[inline(always)]
fn multiply_tile<L: Lanes>(
    lanes: L,
    words: &[&[i16]; TILE],
    weights: &[&[i8]; TILE],
    inputs: usize,
) -> [[i32; TILE]; TILE] {
    let mut sums = [[lanes.zero(); TILE]; TILE];
    let mut at = 0;
    while at < inputs {
        let end = at + L::WIDTH;
        let mut rows = [lanes.load_words(&words[0][at..end]); TILE];
        for r in 1..TILE {
            rows[r] = lanes.load_words(&words[r][at..end]);
        }
        for c in 0..TILE {
            let column = lanes.load_bytes(&weights[c][at..end]);
            for r in 0..TILE {
                sums[r][c] = lanes.multiply_add(sums[r][c], rows[r], column);
            }
        }
        at = end;
    }
    let mut totals = [[0; TILE]; TILE];
    for r in 0..TILE {
        for c in 0..TILE {
            totals[r][c] = lanes.total(sums[r][c]);
        }
    }
    totals
}
