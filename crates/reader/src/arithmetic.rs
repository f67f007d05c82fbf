//! Floating-point functions without branches, in a fixed order of operations: SIMD of any width
//! gives the same bits.

/// Lanes of the sums, whatever the CPU has.
pub(crate) const SUM_LANES: usize = 16;

/// Adding and subtracting it rounds a small number to the nearest whole one.
const ROUNDER: f32 = 12_582_912.0;

/// Rounds a number below 2²² to the nearest whole number; halves go to the even one.
#[inline(always)]
pub(crate) fn round(x: f32) -> f32 {
    (x + ROUNDER) - ROUNDER
}

/// e^x, with a relative error below 10⁻⁶.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 87.0 { 87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUNDER;
    let exponent = shifted - ROUNDER;
    // ln 2 in two parts, so that the rest keeps its precision.
    let rest = (x - exponent * 0.693_359_4) + exponent * 2.121_944_4e-4;
    let poly = 1.0 / 720.0;
    let poly = poly * rest + 1.0 / 120.0;
    let poly = poly * rest + 1.0 / 24.0;
    let poly = poly * rest + 1.0 / 6.0;
    let poly = poly * rest + 0.5;
    let poly = poly * rest + 1.0;
    let poly = poly * rest + 1.0;
    let power = shifted.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127) << 23;
    poly * f32::from_bits(power)
}

/// x·Φ(x), with the error function by formula 7.1.26 of Abramowitz and Stegun (error 1.5·10⁻⁷).
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly = 1.061_405_4;
    let poly = poly * t - 1.453_152_1;
    let poly = poly * t + 1.421_413_8;
    let poly = poly * t - 0.284_496_72;
    let poly = poly * t + 0.254_829_6;
    let tail = poly * t * exp(-z * z);
    let erf = if x < 0.0 { tail - 1.0 } else { 1.0 - tail };
    0.5 * x * (1.0 + erf)
}

#[inline(always)]
pub(crate) fn sum(values: &[f32], mut term: impl FnMut(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<SUM_LANES>();
    let mut lanes = [0.0f32; SUM_LANES];
    for chunk in chunks {
        for at in 0..SUM_LANES {
            lanes[at] += term(chunk[at]);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += term(*value);
    }
    lanes.iter().fold(0.0, |total, lane| total + lane)
}

/// The largest absolute value.
#[inline(always)]
pub(crate) fn largest_size(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<SUM_LANES>();
    let mut lanes = [0.0f32; SUM_LANES];
    let larger = |a: f32, b: f32| if b.abs() > a { b.abs() } else { a };
    for chunk in chunks {
        for at in 0..SUM_LANES {
            lanes[at] = larger(lanes[at], chunk[at]);
        }
    }
    rest.iter().chain(&lanes).fold(0.0, |most, value| larger(most, *value))
}

/// Scale and offset of a normalisation.
pub(crate) struct LayerNorm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

impl LayerNorm {
    /// Normalises each row to mean 0 and variance 1, then scales it.
    #[inline(always)]
    pub(crate) fn apply(&self, rows: &mut [f32]) {
        let width = self.weight.len();
        for row in rows.chunks_exact_mut(width) {
            let mean = sum(row, |v| v) / width as f32;
            let variance = sum(row, |v| (v - mean) * (v - mean)) / width as f32;
            let inverse = 1.0 / (variance + 1e-12).sqrt();
            for ((value, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
                *value = (*value - mean) * inverse * weight + bias;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_agree_with_the_standard_library() {
        for at in -2_000..2_000 {
            let x = at as f32 / 100.0;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) / expected - 1.0).abs() < 2e-6, "exp {x}");
            assert_eq!(round(x), x.round_ties_even());
        }
        for (x, expected) in [(0.0, 0.0), (1.0, 0.841_344_7), (-1.0, -0.158_655_3), (3.0, 2.995_95)]
        {
            assert!((gelu(x) - expected).abs() < 1e-5, "gelu {x}");
        }
        assert_eq!(sum(&[1.0; 37], |v| v), 37.0);
    }

    #[test]
    fn normalised_rows_have_mean_0_and_variance_1() {
        let norm = LayerNorm { weight: vec![1.0; 32], bias: vec![0.0; 32] };
        let mut row: Vec<f32> = (0..32).map(|at| at as f32 * 3.0 + 1.0).collect();
        norm.apply(&mut row);
        assert!(sum(&row, |v| v).abs() < 1e-4);
        assert!((sum(&row, |v| v * v) / 32.0 - 1.0).abs() < 1e-4);
    }
}
