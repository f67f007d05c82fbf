//! Assignment of units to variants by hashing, without any lookup.

use super::traffic_shares::TrafficShares;

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
    let mut halves = hash.as_bytes().chunks_exact(8).map(hash_to_unit_interval);
    let (treated, which) = (halves.next(), halves.next());
    shares.pick_variant(treated.unwrap_or(0.0), which.unwrap_or(0.0))
}

/// 0 to below 1, in steps of 2⁻⁵³.
fn hash_to_unit_interval(bytes: &[u8]) -> f64 {
    let number = bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    (number >> 11) as f64 / (1_u64 << 53) as f64
}
