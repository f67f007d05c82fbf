//! Small symmetric matrices in row-major order, padded to whole SIMD registers. Uses only sums,
//! products, quotients and square roots, so results are identical on every machine.

/// Values per SIMD step.
const LANES: usize = 4;

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
    pub(super) fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * padded_len(size)] }
    }

    pub(super) fn from_values(size: usize, values: Vec<f64>) -> Option<Self> {
        (values.len() == size * padded_len(size)).then_some(Self { size, values })
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * padded_len(self.size) + column]
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(padded_len(self.size))
    }

    /// Computes `out = self · x`; both padded.
    pub(super) fn multiply(&self, x: &[f64], out: &mut [f64]) {
        for (row, out) in self.rows().zip(out) {
            *out = dot(row, x);
        }
    }

    pub(super) fn quadratic_form(&self, x: &[f64]) -> f64 {
        self.rows().zip(x).map(|(row, x_row)| x_row * dot(row, x)).sum()
    }

    pub(super) fn add_outer(&mut self, factor: f64, x: &[f64]) {
        let width = padded_len(self.size);
        let x = &x[..width];
        for (row, x_row) in self.values.chunks_exact_mut(width).zip(x) {
            let scale = factor * x_row;
            for (value, x) in row.iter_mut().zip(x) {
                *value += scale * x;
            }
        }
    }

    pub(super) fn scale(&mut self, factor: f64) {
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
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
