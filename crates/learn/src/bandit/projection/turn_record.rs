//! Per-turn state of router learning.

use model::{RouterChoice, Timestamp};
use serde::{Deserialize, Serialize};

use crate::bandit::{AppliedObservation, Credit, ShadowEstimate};
use crate::reward::{Observation, TurnEvidence};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    pub evidence: TurnEvidence,
    /// The serving arm. Signals may arrive before it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<ServedTurn>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedObservation>,
}

impl TurnRecord {
    /// Stored form of the features: four little-endian bytes each.
    pub fn feature_bytes(&self) -> Vec<u8> {
        let features = self.served.iter().flat_map(|served| &served.features);
        features.flat_map(|value| value.to_le_bytes()).collect()
    }

    pub fn restore_features(&mut self, bytes: &[u8]) {
        if let Some(served) = &mut self.served {
            let (values, _) = bytes.as_chunks::<4>();
            served.features = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
        }
    }

    pub fn observation(&self) -> Option<Observation> {
        self.applied.as_ref().and_then(AppliedObservation::observation)
    }
}

/// A turn served by an arm that a router chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServedTurn {
    pub router: String,
    pub arm: String,
    pub propensity: f64,
    pub ts: Timestamp,
    /// Generation of the arm. Later generations ignore this turn.
    #[serde(rename = "life", default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    // Stored separately; see `feature_bytes`.
    #[serde(skip)]
    features: Vec<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shadow: Option<ShadowEstimate>,
}

impl ServedTurn {
    pub(super) fn new(choice: &RouterChoice, ts: Timestamp, generation: Option<u32>) -> Self {
        Self {
            router: choice.router.clone(),
            arm: choice.arm.clone(),
            propensity: choice.propensity,
            ts,
            generation,
            features: choice.features.clone(),
            shadow: choice.shadow.map(|(offset, slope)| ShadowEstimate { offset, slope }),
        }
    }

    pub fn features(&self) -> Vec<f64> {
        self.features.iter().map(|value| f64::from(*value)).collect()
    }

    pub(super) fn to_credit<'a>(&'a self, features: &'a [f64], hour: u64) -> Credit<'a> {
        Credit { arm: &self.arm, features, shadow: self.shadow, hour }
    }

    pub(super) fn clear_features(&mut self) {
        self.features = Vec::new();
    }
}
