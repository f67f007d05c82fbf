//! Sufficient statistics of an experiment, kept by a projection of the log, and the sample-ratio
//! mismatch test of its exposures.

use model::{Metric, Moments, PartSum};
use serde::{Deserialize, Serialize};

use super::assignment::TrafficShares;
use super::definition::ExperimentDefinition;
use super::tally::{MeanEstimate, MetricTally};

/// A unit's arm for analysis: fixed at its first exposure and stored with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitPlacement {
    /// Index in the definition.
    pub variant: usize,
    pub stratum: usize,
}

/// Units first exposed under the same shares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stratum {
    /// The experiment's metric, by variant.
    tallies: Vec<MetricTally>,
}

/// Sums over an experiment's units. The size does not depend on their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentEvidence {
    strata: Vec<Stratum>,
    /// By guardrail, then by variant.
    guardrails: Vec<Vec<MetricTally>>,
    exposures: ExposureCounts,
}

impl ExperimentEvidence {
    pub fn new(definition: &ExperimentDefinition) -> Self {
        let variants = definition.variants.len();
        let tallies = || vec![MetricTally::default(); variants];
        Self {
            strata: vec![Stratum { tallies: tallies() }],
            guardrails: definition.guardrails.iter().map(|_| tallies()).collect(),
            exposures: ExposureCounts::new(variants),
        }
    }

    /// Starts a new stratum after a rollout step. New units are compared within it only.
    pub fn open_stratum(&mut self) {
        let variants = self.exposures.units().len();
        self.strata.push(Stratum { tallies: vec![MetricTally::default(); variants] });
    }

    pub fn record_exposure(&mut self, variant: usize, shares: &TrafficShares) -> UnitPlacement {
        self.exposures.add_units(variant, shares, 1);
        UnitPlacement { variant, stratum: self.strata.len().saturating_sub(1) }
    }

    /// Records first exposures of several units in any existing stratum, for rebuilding from rows.
    pub fn record_exposures(&mut self, at: UnitPlacement, shares: &TrafficShares, units: u64) {
        if at.stratum < self.strata.len() {
            self.exposures.add_units(at.variant, shares, units);
        }
    }

    /// Adds units of the experiment's metric. Ignores unknown placements.
    pub fn add_moments(&mut self, at: UnitPlacement, moments: &Moments) {
        let stratum = self.strata.get_mut(at.stratum);
        if let Some(tally) = stratum.and_then(|stratum| stratum.tallies.get_mut(at.variant)) {
            tally.add_moments(moments);
        }
    }

    /// Adds units of a guardrail metric, under the variant they were *served*.
    pub fn add_guardrail_moments(&mut self, guardrail: usize, variant: usize, moments: &Moments) {
        let tallies = self.guardrails.get_mut(guardrail);
        if let Some(tally) = tallies.and_then(|tallies| tallies.get_mut(variant)) {
            tally.add_moments(moments);
        }
    }

    pub fn exposed_units(&self) -> &[u64] {
        self.exposures.units()
    }

    pub fn test_sample_ratio(&self) -> SampleRatioTest {
        self.exposures.test_ratio()
    }

    /// Observed units of a variant in the current stratum.
    pub fn units_in_last_stratum(&self, variant: usize) -> u64 {
        let tallies = self.strata.last().map(|stratum| &stratum.tallies);
        tallies.and_then(|tallies| tallies.get(variant)).map_or(0, MetricTally::units)
    }

    pub fn total_tally(&self, variant: usize) -> MetricTally {
        let mut total = MetricTally::default();
        for tally in self.strata.iter().filter_map(|stratum| stratum.tallies.get(variant)) {
            total.add_moments(&tally.sums);
        }
        total
    }

    pub fn control_pairs(
        &self,
        treatment: usize,
    ) -> impl Iterator<Item = (&MetricTally, &MetricTally)> {
        self.strata.iter().filter_map(move |stratum| {
            Some((stratum.tallies.first()?, stratum.tallies.get(treatment)?))
        })
    }

    pub(super) fn guardrail_mean(
        &self,
        index: usize,
        variant: usize,
        metric: Metric,
    ) -> Option<MeanEstimate> {
        MeanEstimate::from_tally(self.guardrails.get(index)?.get(variant)?, metric)
    }
}

/// Results are invalid below this p-value.
const MISMATCH_P_VALUE: f64 = 0.001;
/// The χ² approximation needs at least this many expected units per variant.
const MIN_EXPECTED_UNITS: f64 = 5.0;

/// Observed and expected units by variant. A mismatch means that units of one variant are lost between
/// assignment and log. No difference between the variants is meaningful then.
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

    /// Adds first exposures. Ignores unknown variants.
    pub fn add_units(&mut self, variant: usize, shares: &TrafficShares, more: u64) {
        let Some(units) = self.units.get_mut(variant) else { return };
        *units = units.saturating_add(more);
        for (sum, share) in self.expected.iter_mut().zip(shares.as_slice()) {
            *sum = sum.plus(PartSum::from_number(*share).repeated(more));
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
///
/// Q(a + 1, x) = Q(a, x) + xᵃe⁻ˣ/Γ(a + 1), from Q(½, x) = erfc(√x) or Q(1, x) = e⁻ˣ.
fn upper_gamma(halves: u32, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let (mut shape, mut q, mut term) = if halves % 2 == 1 {
        (0.5, libm::erfc(x.sqrt()), (x / std::f64::consts::PI).sqrt() * 2.0 * (-x).exp())
    } else {
        (1.0, (-x).exp(), x * (-x).exp())
    };
    for _ in 0..(halves - 1) / 2 {
        q += term;
        shape += 1.0;
        term *= x / shape;
    }
    q.min(1.0)
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
