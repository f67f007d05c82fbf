//! All that an experiment has seen: what a projection of the log keeps for it.

use model::{Metric, Moments, UnitTotals};
use serde::{Deserialize, Serialize};

use super::definition::ExperimentDefinition;
use super::mean::Mean;
use super::traffic_shares::Shares;
use super::sample_ratio::{Exposures, SampleRatio};
use super::tally::Tally;

/// Where a unit stands for analysis: fixed at its first exposure, kept with its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its variant, by place in the definition.
    pub variant: usize,
    /// Which stratum.
    pub stratum: usize,
}

/// The units that were first exposed while the shares were the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stratum {
    /// The experiment's metric, by variant.
    tallies: Vec<Tally>,
}

/// What adds up over an experiment's units. Its size does not depend on their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    strata: Vec<Stratum>,
    /// By guardrail, then by variant.
    guardrails: Vec<Vec<Tally>>,
    exposures: Exposures,
}

impl Evidence {
    /// Of an experiment that has just begun.
    pub fn new(definition: &ExperimentDefinition) -> Self {
        let variants = definition.variants.len();
        let tallies = || vec![Tally::default(); variants];
        Self {
            strata: vec![Stratum { tallies: tallies() }],
            guardrails: definition.guardrails.iter().map(|_| tallies()).collect(),
            exposures: Exposures::new(variants),
        }
    }

    /// A rollout has moved: units that come from now on are compared among themselves.
    pub fn open_stratum(&mut self) {
        let variants = self.exposures.units().len();
        self.strata.push(Stratum { tallies: vec![Tally::default(); variants] });
    }

    /// A unit that was never seen got a variant by these shares.
    pub fn expose(&mut self, variant: usize, shares: &Shares) -> Place {
        self.exposures.add(variant, shares);
        Place { variant, stratum: self.strata.len().saturating_sub(1) }
    }

    /// So many units that were never seen got a variant by these shares, in a stratum that need not be
    /// the newest: for whoever puts evidence together from rows in any order.
    pub fn expose_many(&mut self, at: Place, shares: &Shares, units: u64) {
        if at.stratum < self.strata.len() {
            self.exposures.add_many(at.variant, shares, units);
        }
    }

    /// A unit's totals of the experiment's metric have changed. A place that is not there is
    /// left out.
    pub fn observe(&mut self, at: Place, old: Option<UnitTotals>, new: Option<UnitTotals>) {
        let stratum = self.strata.get_mut(at.stratum);
        if let Some(tally) = stratum.and_then(|stratum| stratum.tallies.get_mut(at.variant)) {
            tally.replace(old, new);
        }
    }

    /// A unit's totals of a guardrail's metric, under the variant it was *served*, have changed.
    pub fn observe_guardrail(
        &mut self,
        guardrail: usize,
        variant: usize,
        old: Option<UnitTotals>,
        new: Option<UnitTotals>,
    ) {
        let tallies = self.guardrails.get_mut(guardrail);
        if let Some(tally) = tallies.and_then(|tallies| tallies.get_mut(variant)) {
            tally.replace(old, new);
        }
    }

    /// Units whose sums were kept by somebody else, as if each of them had been observed.
    pub fn add(&mut self, at: Place, moments: &Moments) {
        let stratum = self.strata.get_mut(at.stratum);
        if let Some(tally) = stratum.and_then(|stratum| stratum.tallies.get_mut(at.variant)) {
            tally.add(&Tally::from(*moments));
        }
    }

    /// The same for a guardrail's metric.
    pub fn add_guardrail(&mut self, guardrail: usize, variant: usize, moments: &Moments) {
        let tallies = self.guardrails.get_mut(guardrail);
        if let Some(tally) = tallies.and_then(|tallies| tallies.get_mut(variant)) {
            tally.add(&Tally::from(*moments));
        }
    }

    /// Units that were exposed to each variant.
    pub fn exposed(&self) -> &[u64] {
        self.exposures.units()
    }

    /// Whether the variants got their parts of the units.
    pub fn sample_ratio(&self) -> SampleRatio {
        self.exposures.test()
    }

    /// Units of a variant that have given anything since the shares changed last.
    pub fn units_in_last_stratum(&self, variant: usize) -> u64 {
        let tallies = self.strata.last().map(|stratum| &stratum.tallies);
        tallies.and_then(|tallies| tallies.get(variant)).map_or(0, Tally::units)
    }

    /// The experiment's metric over all strata.
    pub fn total(&self, variant: usize) -> Tally {
        let mut total = Tally::default();
        for tally in self.strata.iter().filter_map(|stratum| stratum.tallies.get(variant)) {
            total.add(tally);
        }
        total
    }

    /// Control and treatment, stratum by stratum.
    pub fn pairs(&self, treatment: usize) -> impl Iterator<Item = (&Tally, &Tally)> {
        self.strata.iter().filter_map(move |stratum| {
            Some((stratum.tallies.first()?, stratum.tallies.get(treatment)?))
        })
    }

    /// A guardrail's mean for a variant.
    pub(super) fn guardrail(&self, index: usize, variant: usize, metric: Metric) -> Option<Mean> {
        Mean::of(self.guardrails.get(index)?.get(variant)?, metric)
    }
}
