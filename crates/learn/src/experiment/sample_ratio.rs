//! Sample-ratio mismatch test: observed against expected units per variant.
//!
//! A mismatch means that units of one variant are lost between assignment and log. No difference
//! between the variants is meaningful then.

use model::PartSum;
use serde::{Deserialize, Serialize};

use super::assignment::TrafficShares;

/// Results are invalid below this p-value.
const MISMATCH_P_VALUE: f64 = 0.001;
/// The χ² approximation needs at least this many expected units per variant.
const MIN_EXPECTED_UNITS: f64 = 5.0;

/// Observed and expected units by variant.
///
/// Expected counts sum the shares in force at each exposure. With changing shares the counts vary
/// less than χ² assumes, so the test becomes conservative.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExposureCounts {
    units: Vec<u64>,
    expected: Vec<PartSum>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleRatioTest {
    /// The p-value; `None` with too few units.
    pub p: Option<f64>,
    /// False when results must not be trusted.
    pub ok: bool,
}

impl ExposureCounts {
    pub fn new(variants: usize) -> Self {
        Self { units: vec![0; variants], expected: vec![PartSum::default(); variants] }
    }

    /// Adds one unit's first exposure. Ignores unknown variants.
    pub fn add_unit(&mut self, variant: usize, shares: &TrafficShares) {
        self.add_units(variant, shares, 1);
    }

    pub fn add_units(&mut self, variant: usize, shares: &TrafficShares, more: u64) {
        let Some(units) = self.units.get_mut(variant) else { return };
        *units = units.saturating_add(more);
        for (sum, share) in self.expected.iter_mut().zip(shares.as_slice()) {
            *sum = sum.plus(PartSum::of(*share).many(more));
        }
    }

    pub fn units(&self) -> &[u64] {
        &self.units
    }

    pub fn test_ratio(&self) -> SampleRatioTest {
        let mut statistic = 0.0;
        let mut cells = 0_u32;
        for (units, expected) in self.units.iter().zip(&self.expected) {
            let (units, expected) = (*units as f64, expected.single());
            // Zero share and zero units: the variant is out of play.
            if expected < 1e-6 && units == 0.0 {
                continue;
            }
            if expected < 1e-6 {
                return SampleRatioTest { p: Some(0.0), ok: false };
            }
            if expected < MIN_EXPECTED_UNITS {
                return SampleRatioTest { p: None, ok: true };
            }
            statistic += (units - expected).powi(2) / expected;
            cells += 1;
        }
        if cells < 2 {
            return SampleRatioTest { p: None, ok: true };
        }
        let p = upper_gamma(cells - 1, 0.5 * statistic);
        SampleRatioTest { p: Some(p), ok: p >= MISMATCH_P_VALUE }
    }
}

/// Regularised upper incomplete gamma Q(halves/2, x): the χ² tail at 2x.
fn upper_gamma(halves: u32, x: f64) -> f64 {
    let shape = 0.5 * f64::from(halves);
    if x <= 0.0 {
        return 1.0;
    }
    let scale = (shape * x.ln() - x - ln_gamma_halves(halves)).exp();
    let q = if x < shape + 1.0 {
        1.0 - scale * gamma_series(shape, x)
    } else {
        scale * gamma_fraction(shape, x)
    };
    q.clamp(0.0, 1.0)
}

/// ln Γ(halves/2), by recursion from Γ(½) = √π or Γ(1) = 1.
fn ln_gamma_halves(halves: u32) -> f64 {
    let odd = halves % 2 == 1;
    let (mut at, mut sum) = if odd { (0.5, 0.5 * std::f64::consts::PI.ln()) } else { (1.0, 0.0) };
    while at + 0.25 < 0.5 * f64::from(halves) {
        sum += f64::ln(at);
        at += 1.0;
    }
    sum
}

/// Σ xⁿ / (a(a+1)…(a+n)), for x below a + 1.
fn gamma_series(shape: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut at) = (1.0 / shape, 1.0 / shape, shape);
    for _ in 0..1_000 {
        at += 1.0;
        term *= x / at;
        sum += term;
        if term < sum * 1e-16 {
            break;
        }
    }
    sum
}

/// Continued fraction for larger x, by Lentz's method.
fn gamma_fraction(shape: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - shape;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut value = d;
    for step in 1..1_000 {
        let a = -f64::from(step) * (f64::from(step) - shape);
        b += 2.0;
        d = 1.0 / keep_nonzero(a * d + b, TINY);
        c = keep_nonzero(b + a / c, TINY);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

fn keep_nonzero(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values from scipy.special.gammaincc.
    #[test]
    fn gamma_tails_match_reference_values() {
        let rows = [
            (1, 0.5 * 3.841_458_820_694_124, 0.05),
            (1, 0.5 * 10.827_566_170_662_733, 0.001),
            (2, 0.5 * 5.991_464_547_107_979, 0.05),
            (3, 0.5 * 0.351_846_317_749_271_2, 0.95),
            (15, 0.5 * 24.995_790_139_728_616, 0.05),
        ];
        for (halves, x, expected) in rows {
            let got = upper_gamma(halves, x);
            assert!((got - expected).abs() < 1e-10, "{halves} {x}: {got}");
        }
        assert!(upper_gamma(1, 40.0) < 1e-18 && upper_gamma(1, 40.0) > 0.0);
    }
}
