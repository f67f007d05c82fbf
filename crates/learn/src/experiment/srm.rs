//! Sample-ratio mismatch: whether as many units came to each variant as should have.
//!
//! When they did not, something between assignment and log loses units of one variant, and no
//! difference between the variants means anything.

use model::PartSum;
use serde::{Deserialize, Serialize};

use super::shares::Shares;

/// Below this chance the numbers are no accident.
const BLOCKS_BELOW: f64 = 0.001;
/// With fewer expected in a cell the χ² distribution does not fit.
const LEAST_EXPECTED: f64 = 5.0;

/// Units that were exposed, and how many were to be expected of each variant.
///
/// Expected is the sum of the shares that held at each unit's own exposure. Where shares change over
/// time the counts vary less than χ² supposes, so the test then errs on the quiet side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposures {
    units: Vec<u64>,
    expected: Vec<PartSum>,
}

/// The outcome of the test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleRatio {
    /// The chance of counts as uneven as these; `None` while there are too few to say.
    pub p: Option<f64>,
    /// Whether results may be believed.
    pub ok: bool,
}

impl Exposures {
    /// For so many variants.
    pub fn new(variants: usize) -> Self {
        Self { units: vec![0; variants], expected: vec![PartSum::default(); variants] }
    }

    /// One unit, the first time. A variant that is not there is left out.
    pub fn add(&mut self, variant: usize, shares: &Shares) {
        self.add_many(variant, shares, 1);
    }

    /// So many units. The same as one after the other.
    pub fn add_many(&mut self, variant: usize, shares: &Shares, more: u64) {
        let Some(units) = self.units.get_mut(variant) else { return };
        *units = units.saturating_add(more);
        for (sum, share) in self.expected.iter_mut().zip(shares.as_slice()) {
            *sum = sum.plus(PartSum::from_number(*share).repeated(more));
        }
    }

    /// Units of each variant.
    pub fn units(&self) -> &[u64] {
        &self.units
    }

    /// Tests the counts against what was to be expected.
    pub fn test(&self) -> SampleRatio {
        let mut statistic = 0.0;
        let mut cells = 0_u32;
        for (units, expected) in self.units.iter().zip(&self.expected) {
            let (units, expected) = (*units as f64, expected.single());
            // A variant that should get nobody but rounding is none.
            if expected < 1e-6 && units == 0.0 {
                continue;
            }
            if expected < 1e-6 {
                return SampleRatio { p: Some(0.0), ok: false };
            }
            if expected < LEAST_EXPECTED {
                return SampleRatio { p: None, ok: true };
            }
            statistic += (units - expected).powi(2) / expected;
            cells += 1;
        }
        if cells < 2 {
            return SampleRatio { p: None, ok: true };
        }
        let p = upper_gamma(cells - 1, 0.5 * statistic);
        SampleRatio { p: Some(p), ok: p >= BLOCKS_BELOW }
    }
}

/// The regularised upper incomplete gamma function Q(halves/2, x): the χ² tail at 2x.
fn upper_gamma(halves: u32, x: f64) -> f64 {
    let shape = 0.5 * f64::from(halves);
    if x <= 0.0 {
        return 1.0;
    }
    let scale = (shape * x.ln() - x - ln_gamma_of_halves(halves)).exp();
    let q =
        if x < shape + 1.0 { 1.0 - scale * series(shape, x) } else { scale * fraction(shape, x) };
    q.clamp(0.0, 1.0)
}

/// ln Γ(halves/2), by steps of one from Γ(½) = √π or Γ(1) = 1.
fn ln_gamma_of_halves(halves: u32) -> f64 {
    let odd = halves % 2 == 1;
    let (mut at, mut sum) = if odd { (0.5, 0.5 * std::f64::consts::PI.ln()) } else { (1.0, 0.0) };
    while at + 0.25 < 0.5 * f64::from(halves) {
        sum += f64::ln(at);
        at += 1.0;
    }
    sum
}

/// Σ xⁿ / (a(a+1)…(a+n)), for x below a + 1.
fn series(shape: f64, x: f64) -> f64 {
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

/// The continued fraction for larger x, by Lentz's method.
fn fraction(shape: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - shape;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut value = d;
    for step in 1..1_000 {
        let a = -f64::from(step) * (f64::from(step) - shape);
        b += 2.0;
        d = 1.0 / keep(a * d + b, TINY);
        c = keep(b + a / c, TINY);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// Not zero.
fn keep(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values by scipy.special.gammaincc.
    #[test]
    fn tails_are_those_of_the_tables() {
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
