//! Online ridge regression of the reward on the features.
//!
//! `gram` and `moment` are sums over turns. The inverse is updated by Sherman–Morrison and rebuilt
//! from `gram` after a fixed number of updates, so that errors cannot accumulate.

use super::MAX_FEATURES;

const FEATURE_RIDGE: f64 = 3.0;
const INTERCEPT_RIDGE: f64 = 1.0;
const REBUILD_UPDATES: u32 = 512;
/// Updates between rebuilds under decay, which shrinks the ridge; a rebuild restores it.
const REBUILD_UPDATES_DECAYING: u32 = 64;
const MAX_FEATURE_MAGNITUDE: f64 = 1e6;

/// Features followed by a constant 1 for the intercept, padded.
pub(crate) struct FeatureVector {
    values: [f64; padded_len(MAX_FEATURES + 1)],
    width: usize,
}

impl FeatureVector {
    /// Returns `None` for a wrong feature count or a value out of range.
    pub(crate) fn new(features: &[f64], expected: usize) -> Option<Self> {
        let sensible = |feature: &f64| feature.abs() <= MAX_FEATURE_MAGNITUDE;
        let fits =
            features.len() == expected && expected <= MAX_FEATURES && features.iter().all(sensible);
        fits.then(|| {
            let mut values = [0.0; padded_len(MAX_FEATURES + 1)];
            values[..expected].copy_from_slice(features);
            values[expected] = 1.0;
            Self { values, width: padded_len(expected + 1) }
        })
    }

    fn values(&self) -> &[f64] {
        &self.values[..self.width]
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RidgeRegression {
    /// Distinguishes this regression from earlier ones of the same arm.
    pub(super) generation: u32,
    pub(super) gram: Matrix,
    pub(super) moment: Vec<f64>,
    pub(super) inverse: Matrix,
    pub(super) coefficients: Vec<f64>,
    pub(super) updates: u32,
    pub(super) broken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RewardPrediction {
    pub(crate) mean: f64,
    /// Standard error for observations of unit weight and variance.
    pub(crate) deviation: f64,
}

impl RidgeRegression {
    pub(crate) fn new(features: usize, generation: u32) -> Self {
        let size = features + 1;
        let (zero, zeros) = (Matrix::zero(size), vec![0.0; padded_len(size)]);
        let mut new = Self {
            generation,
            gram: zero.clone(),
            moment: zeros.clone(),
            inverse: zero,
            coefficients: zeros,
            updates: 0,
            broken: true,
        };
        new.rebuild_inverse();
        new
    }

    pub(crate) fn feature_count(&self) -> usize {
        self.gram.size - 1
    }

    /// Returns `None` on a numerical fault; the caller falls back to the arm's mean.
    pub(crate) fn predict(&self, point: &FeatureVector, prior: f64) -> Option<RewardPrediction> {
        let fits = !self.broken && point.width == self.coefficients.len();
        fits.then_some(())?;
        let mean = prior + dot(&self.coefficients, point.values());
        let variance = self.inverse.quadratic_form(point.values());
        let sound = mean.is_finite() && variance.is_finite() && variance > 0.0;
        sound.then(|| RewardPrediction { mean, deviation: variance.sqrt() })
    }

    /// Adds a turn's weight and weighted reward; negative values remove it. `prior` is the reward
    /// at zero coefficients. Returns false on a numerical fault.
    pub(crate) fn apply_turn(
        &mut self,
        point: &FeatureVector,
        weight: f64,
        reward: f64,
        prior: f64,
    ) -> bool {
        let x = point.values();
        if x.len() != self.coefficients.len() {
            return false;
        }
        if weight != 0.0 {
            self.gram.add_outer(weight, x);
            self.update_inverse(x, weight);
        }
        for (moment, x) in self.moment.iter_mut().zip(x) {
            *moment += reward * x;
        }
        self.solve_coefficients(prior);
        !self.broken
    }

    /// Scales all sums. `solve_coefficients` or `apply_turn` must follow.
    pub(crate) fn apply_decay(&mut self, left: f64) {
        if left >= 1.0 {
            return;
        }
        self.gram.scale(left);
        self.moment.iter_mut().for_each(|moment| *moment *= left);
        self.updates += REBUILD_UPDATES / REBUILD_UPDATES_DECAYING;
        if left > 0.9 && self.updates < REBUILD_UPDATES {
            self.inverse.scale(1.0 / left);
        } else {
            self.rebuild_inverse();
        }
    }

    /// Updates the inverse for `gram += weight · x · xᵀ`.
    fn update_inverse(&mut self, x: &[f64], weight: f64) {
        self.updates += 1;
        let mut turned = [0.0; padded_len(MAX_FEATURES + 1)];
        let turned = &mut turned[..x.len()];
        self.inverse.multiply(x, turned);
        let denominator = 1.0 + weight * dot(turned, x);
        // Removing a turn brings this near zero when few turns remain.
        let shaky = !(denominator > 1e-3 && denominator.is_finite());
        if shaky || self.broken || self.updates >= REBUILD_UPDATES {
            self.rebuild_inverse();
        } else {
            self.inverse.add_outer(-weight / denominator, turned);
        }
    }

    fn rebuild_inverse(&mut self) {
        self.updates = 0;
        match self.gram.ridge_inverse(FEATURE_RIDGE, INTERCEPT_RIDGE) {
            Some(inverse) => {
                self.inverse = inverse;
                self.broken = false;
            }
            None => self.broken = true,
        }
    }

    /// Solves for the coefficients of rewards relative to the prior. The intercept column of `gram`
    /// is the sum of all points, so a changed prior needs no further state.
    pub(crate) fn solve_coefficients(&mut self, prior: f64) {
        let size = self.gram.size;
        let mut above = [0.0; padded_len(MAX_FEATURES + 1)];
        let above = &mut above[..self.moment.len()];
        for (index, above) in above.iter_mut().enumerate().take(size) {
            *above = self.moment[index] - prior * self.gram.get(index, size - 1);
        }
        self.inverse.multiply(above, &mut self.coefficients);
        self.broken |= !self.coefficients.iter().all(|theta| theta.is_finite());
    }
}

/// Values per SIMD step.
const LANES: usize = 4;

/// A small symmetric matrix in row-major order, padded to whole SIMD registers. Uses only sums,
/// products, quotients and square roots, so results are identical on every machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    size: usize,
    values: Vec<f64>,
}

/// Padded length of a row or vector. Padding stays zero.
pub(super) const fn padded_len(size: usize) -> usize {
    size.div_ceil(LANES) * LANES
}

impl Matrix {
    fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * padded_len(size)] }
    }

    pub(super) fn from_values(size: usize, values: Vec<f64>) -> Option<Self> {
        (values.len() == size * padded_len(size)).then_some(Self { size, values })
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * padded_len(self.size) + column]
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(padded_len(self.size))
    }

    /// Computes `out = self · x`; both padded.
    fn multiply(&self, x: &[f64], out: &mut [f64]) {
        for (row, out) in self.rows().zip(out) {
            *out = dot(row, x);
        }
    }

    fn quadratic_form(&self, x: &[f64]) -> f64 {
        self.rows().zip(x).map(|(row, x_row)| x_row * dot(row, x)).sum()
    }

    fn add_outer(&mut self, factor: f64, x: &[f64]) {
        let width = padded_len(self.size);
        let x = &x[..width];
        for (row, x_row) in self.values.chunks_exact_mut(width).zip(x) {
            let scale = factor * x_row;
            for (value, x) in row.iter_mut().zip(x) {
                *value += scale * x;
            }
        }
    }

    fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|value| *value *= factor);
    }

    /// Inverse of `self + diag(ridge, …, ridge, last)`; `None` unless positive definite.
    pub(super) fn ridge_inverse(&self, ridge: f64, last: f64) -> Option<Self> {
        let size = self.size;
        let mut lower = vec![0.0; size * size];
        for row in 0..size {
            for column in 0..=row {
                let mut rest = self.get(row, column);
                if row == column {
                    rest += if row + 1 == size { last } else { ridge };
                }
                for k in 0..column {
                    rest -= lower[row * size + k] * lower[column * size + k];
                }
                lower[row * size + column] = if row == column {
                    (rest > 0.0 && rest.is_finite()).then(|| rest.sqrt())?
                } else {
                    rest / lower[column * size + column]
                };
            }
        }
        Some(invert_cholesky(size, &lower))
    }
}

/// Inverse of `L · Lᵀ`: `L⁻¹` first, then its product with its transpose.
fn invert_cholesky(size: usize, lower: &[f64]) -> Matrix {
    let mut inverse = vec![0.0; size * size];
    for column in 0..size {
        inverse[column * size + column] = 1.0 / lower[column * size + column];
        for row in column + 1..size {
            let sum: f64 =
                (column..row).map(|k| lower[row * size + k] * inverse[k * size + column]).sum();
            inverse[row * size + column] = -sum / lower[row * size + row];
        }
    }
    let mut product = Matrix::zero(size);
    let width = padded_len(size);
    for row in 0..size {
        for column in 0..=row {
            let sum: f64 =
                (row..size).map(|k| inverse[k * size + row] * inverse[k * size + column]).sum();
            product.values[row * width + column] = sum;
            product.values[column * width + row] = sum;
        }
    }
    product
}

/// Dot product in four parallel sums, so that the compiler can vectorise it.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
