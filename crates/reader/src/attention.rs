//! Self-attention over the tokens of one sequence.

use crate::arithmetic::{SUM_LANES, exp, sum};

/// Numbers per head.
pub(crate) const HEAD_DIMS: usize = 32;

/// Buffers that are reused between layers.
#[derive(Default)]
pub(crate) struct Attention {
    /// One row per number of a head, one column per token.
    keys: Vec<f32>,
    weights: Vec<f32>,
}

impl Attention {
    /// Writes the mixed values of `tokens` rows into `mixed`. Rows beyond them are left alone.
    #[inline(always)]
    pub(crate) fn mix(
        &mut self,
        tokens: usize,
        dims: usize,
        (queries, keys, values): (&[f32], &[f32], &[f32]),
        mixed: &mut [f32],
    ) {
        let columns = tokens.next_multiple_of(SUM_LANES);
        self.keys.resize(HEAD_DIMS * columns, 0.0);
        self.weights.resize(columns, 0.0);
        let scale = 1.0 / (HEAD_DIMS as f32).sqrt();
        for head in (0..dims).step_by(HEAD_DIMS) {
            for token in 0..tokens {
                for d in 0..HEAD_DIMS {
                    self.keys[d * columns + token] = keys[token * dims + head + d] * scale;
                }
            }
            for token in 0..tokens {
                let at = token * dims + head;
                self.weigh(&queries[at..at + HEAD_DIMS], tokens, columns);
                let mut total = [0.0f32; HEAD_DIMS];
                for (other, weight) in self.weights[..tokens].iter().enumerate() {
                    let row = &values[other * dims + head..other * dims + head + HEAD_DIMS];
                    for d in 0..HEAD_DIMS {
                        total[d] += weight * row[d];
                    }
                }
                mixed[at..at + HEAD_DIMS].copy_from_slice(&total);
            }
        }
    }

    /// Computes the weights of all tokens for one query.
    #[inline(always)]
    fn weigh(&mut self, query: &[f32], tokens: usize, columns: usize) {
        for chunk in (0..columns).step_by(SUM_LANES) {
            let mut dots = [0.0f32; SUM_LANES];
            for (d, value) in query.iter().enumerate() {
                let row = &self.keys[d * columns + chunk..d * columns + chunk + SUM_LANES];
                for at in 0..SUM_LANES {
                    dots[at] += value * row[at];
                }
            }
            self.weights[chunk..chunk + SUM_LANES].copy_from_slice(&dots);
        }
        let weights = &mut self.weights[..tokens];
        let largest = weights.iter().fold(f32::MIN, |most, w| if *w > most { *w } else { most });
        for weight in weights.iter_mut() {
            *weight = exp(*weight - largest);
        }
        let inverse = 1.0 / sum(weights, |w| w);
        for weight in weights.iter_mut() {
            *weight *= inverse;
        }
    }
}
