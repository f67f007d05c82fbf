//! Which variant a unit gets: a hash of its id, so that nothing need be looked up.

use super::traffic_shares::Shares;

/// What makes the assignments of one experiment independent of those of all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salt([u8; 32]);

impl Salt {
    /// The salt of an experiment. Made once; assigning with it costs one block of the hash.
    pub fn of(experiment_id: &str) -> Self {
        Self(blake3::derive_key("uptake experiment assignment v1", experiment_id.as_bytes()))
    }
}

/// The variant of a unit, by its place in the definition.
///
/// The same for the same salt, unit and shares. A share that rises for all treatments together
/// (a rollout's step) moves units from the control to a treatment and no others.
pub fn assign(salt: &Salt, unit_id: &str, shares: &Shares) -> usize {
    let hash = blake3::keyed_hash(&salt.0, unit_id.as_bytes());
    let mut halves = hash.as_bytes().chunks_exact(8).map(point);
    let (treated, which) = (halves.next(), halves.next());
    shares.at(treated.unwrap_or(0.0), which.unwrap_or(0.0))
}

/// From 0, below 1, in steps of 2⁻⁵³.
fn point(bytes: &[u8]) -> f64 {
    let number = bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    (number >> 11) as f64 / (1_u64 << 53) as f64
}
