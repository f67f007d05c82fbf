//! Sufficient statistics of an experiment, kept by a projection of the log.

use model::{Metric, Moments, UnitTotals};
use serde::{Deserialize, Serialize};

use super::assignment::TrafficShares;
use super::definition::ExperimentDefinition;
use super::sample_ratio::{ExposureCounts, SampleRatioTest};
use super::tally::MeanEstimate;
use super::tally::MetricTally;

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

    /// Records the first exposure of a unit under these shares.
    pub fn record_exposure(&mut self, variant: usize, shares: &TrafficShares) -> UnitPlacement {
        self.exposures.add_unit(variant, shares);
        UnitPlacement { variant, stratum: self.strata.len().saturating_sub(1) }
    }

    /// Records first exposures of several units in any existing stratum, for rebuilding from rows.
    pub fn record_exposures(&mut self, at: UnitPlacement, shares: &TrafficShares, units: u64) {
        if at.stratum < self.strata.len() {
            self.exposures.add_units(at.variant, shares, units);
        }
    }

    /// Replaces a unit's totals of the experiment's metric. Ignores unknown placements.
    pub fn observe_unit(
        &mut self,
        at: UnitPlacement,
        old: Option<UnitTotals>,
        new: Option<UnitTotals>,
    ) {
        if let Some(tally) = self.find_tally(at) {
            tally.replace_unit(old, new);
        }
    }

    /// Replaces a unit's totals of a guardrail metric, under the variant it was *served*.
    pub fn observe_guardrail(
        &mut self,
        guardrail: usize,
        variant: usize,
        old: Option<UnitTotals>,
        new: Option<UnitTotals>,
    ) {
        if let Some(tally) = self.find_guardrail_tally(guardrail, variant) {
            tally.replace_unit(old, new);
        }
    }

    pub fn add_moments(&mut self, at: UnitPlacement, moments: &Moments) {
        if let Some(tally) = self.find_tally(at) {
            tally.add_tally(&MetricTally::from(*moments));
        }
    }

    pub fn add_guardrail_moments(&mut self, guardrail: usize, variant: usize, moments: &Moments) {
        if let Some(tally) = self.find_guardrail_tally(guardrail, variant) {
            tally.add_tally(&MetricTally::from(*moments));
        }
    }

    fn find_tally(&mut self, at: UnitPlacement) -> Option<&mut MetricTally> {
        self.strata.get_mut(at.stratum)?.tallies.get_mut(at.variant)
    }

    fn find_guardrail_tally(&mut self, index: usize, variant: usize) -> Option<&mut MetricTally> {
        self.guardrails.get_mut(index)?.get_mut(variant)
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
            total.add_tally(tally);
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
