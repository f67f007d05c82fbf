//! Which part of the traffic each variant has at a time.

use super::definition::ExperimentDefinition;

/// Shares of the variants, the control first. They add up to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    shares: Vec<f64>,
    /// Treatments together.
    treated: f64,
    /// For each treatment: which part of the treated lie at it or before it.
    upto: Vec<f64>,
}

impl Shares {
    /// Out of weights; those that are no weights count as 0. All to the control when nothing is left.
    pub fn of(weights: &[f64]) -> Self {
        let sound = |weight: &f64| if weight.is_finite() { weight.max(0.0) } else { 0.0 };
        let weights: Vec<f64> = weights.iter().map(sound).collect();
        let control = weights.first().copied().unwrap_or(0.0);
        let treatments: f64 = weights.iter().skip(1).sum();
        let all = control + treatments;
        let treated = if all > 0.0 { treatments / all } else { 0.0 };
        Self::split(&weights, treated)
    }

    /// As the definition's weights say.
    pub fn of_weights(definition: &ExperimentDefinition) -> Self {
        Self::of(&weights_of(definition))
    }

    /// So many percent get a treatment, shared out by the weights of the treatments.
    pub fn at_percent(definition: &ExperimentDefinition, percent: f64) -> Self {
        let treated = if percent.is_finite() { (percent / 100.0).clamp(0.0, 1.0) } else { 0.0 };
        Self::split(&weights_of(definition), treated)
    }

    fn split(weights: &[f64], treated: f64) -> Self {
        let treatments = weights.get(1..).unwrap_or_default();
        let sum: f64 = treatments.iter().sum();
        let treated = if sum > 0.0 { treated } else { 0.0 };
        let mut shares = vec![1.0 - treated];
        let mut upto = Vec::with_capacity(treatments.len());
        let mut below = 0.0;
        for weight in treatments {
            below += weight;
            shares.push(if sum > 0.0 { treated * weight / sum } else { 0.0 });
            upto.push(if sum > 0.0 { below / sum } else { 1.0 });
        }
        Self { shares, treated, upto }
    }

    /// The share of each variant.
    pub fn as_slice(&self) -> &[f64] {
        &self.shares
    }

    /// The variant at two points of 0..1.
    ///
    /// The first says whether the unit is treated, the second by which treatment; so a larger
    /// treated part takes units from the control alone, as long as the treatments' weights stay.
    pub(super) fn at(&self, treated: f64, which: f64) -> usize {
        if treated >= self.treated {
            return 0;
        }
        let place = self.upto.iter().position(|upto| which < *upto);
        // Rounding may leave the last bound below the largest point.
        let last = || self.shares.iter().rposition(|share| *share > 0.0);
        place.map(|index| index + 1).or_else(last).unwrap_or(0)
    }
}

fn weights_of(definition: &ExperimentDefinition) -> Vec<f64> {
    definition.variants.iter().map(|variant| variant.weight).collect()
}
