//! Traffic shares, and the assignment of units to variants by hashing, without any lookup.

use super::definition::ExperimentDefinition;

/// Makes assignments of different experiments independent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentSalt([u8; 32]);

impl AssignmentSalt {
    /// Derived once per experiment; an assignment then costs one hash block.
    pub fn new(experiment_id: &str) -> Self {
        Self(blake3::derive_key("uptake experiment assignment v1", experiment_id.as_bytes()))
    }
}

/// The unit's variant, by index in the definition.
///
/// Deterministic in salt, unit and shares. When the total treated share rises (a rollout step),
/// units move only from the control to a treatment.
pub fn assign_variant(salt: &AssignmentSalt, unit_id: &str, shares: &TrafficShares) -> usize {
    let hash = blake3::keyed_hash(&salt.0, unit_id.as_bytes());
    let (parts, _) = hash.as_bytes().as_chunks::<8>();
    // 0 to below 1, in steps of 2⁻⁵³.
    let point = |part: [u8; 8]| (u64::from_le_bytes(part) >> 11) as f64 / (1_u64 << 53) as f64;
    shares.pick_variant(point(parts[0]), point(parts[1]))
}

/// Shares by variant, the control first. They sum to one.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficShares {
    shares: Vec<f64>,
    /// Total share of the treatments.
    treated: f64,
    /// Cumulative shares among the treated, by treatment.
    cumulative: Vec<f64>,
}

impl TrafficShares {
    /// Invalid weights count as 0. Without any weight the control gets all traffic.
    pub fn from_weights(weights: &[f64]) -> Self {
        let sound = |weight: &f64| if weight.is_finite() { weight.max(0.0) } else { 0.0 };
        let weights: Vec<f64> = weights.iter().map(sound).collect();
        let control = weights.first().copied().unwrap_or(0.0);
        let treatments: f64 = weights.iter().skip(1).sum();
        let all = control + treatments;
        let treated = if all > 0.0 { treatments / all } else { 0.0 };
        Self::split_treated(&weights, treated)
    }

    pub fn from_definition(definition: &ExperimentDefinition) -> Self {
        Self::from_weights(&variant_weights(definition))
    }

    /// Splits `percent` of the traffic among the treatments by weight.
    pub fn from_percent(definition: &ExperimentDefinition, percent: f64) -> Self {
        let treated = if percent.is_finite() { (percent / 100.0).clamp(0.0, 1.0) } else { 0.0 };
        Self::split_treated(&variant_weights(definition), treated)
    }

    fn split_treated(weights: &[f64], treated: f64) -> Self {
        let treatments = weights.get(1..).unwrap_or_default();
        let sum: f64 = treatments.iter().sum();
        let treated = if sum > 0.0 { treated } else { 0.0 };
        let mut shares = vec![1.0 - treated];
        let mut cumulative = Vec::with_capacity(treatments.len());
        let mut below = 0.0;
        for weight in treatments {
            below += weight;
            shares.push(if sum > 0.0 { treated * weight / sum } else { 0.0 });
            cumulative.push(if sum > 0.0 { below / sum } else { 1.0 });
        }
        Self { shares, treated, cumulative }
    }

    pub fn as_slice(&self) -> &[f64] {
        &self.shares
    }

    /// Maps two points in 0..1 to a variant.
    ///
    /// The first decides if the unit is treated, the second picks the treatment. A larger treated
    /// share therefore takes units from the control only, while weights stay the same.
    fn pick_variant(&self, treated: f64, which: f64) -> usize {
        if treated >= self.treated {
            return 0;
        }
        let place = self.cumulative.iter().position(|bound| which < *bound);
        // Rounding may leave the last bound below the largest point.
        let last = || self.shares.iter().rposition(|share| *share > 0.0);
        place.map(|index| index + 1).or_else(last).unwrap_or(0)
    }
}

fn variant_weights(definition: &ExperimentDefinition) -> Vec<f64> {
    definition.variants.iter().map(|variant| variant.weight).collect()
}
