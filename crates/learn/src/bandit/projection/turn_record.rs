//! What is known of one turn that a router may learn from.

use model::{RouterChoice, Timestamp};
use serde::{Deserialize, Serialize};

use crate::bandit::{Applied, Credit, Shadow};
use crate::reward::{Observation, TurnEvidence};

/// A turn's signals, who served it, and what it has taught so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Everything that was said and seen.
    pub evidence: TurnEvidence,
    /// Who served it; signals may come before that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<ServedTurn>,
    /// What it has taught.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
}

impl TurnRecord {
    /// The features of the request as they are kept: four bytes each.
    pub fn feature_bytes(&self) -> Vec<u8> {
        let features = self.served.iter().flat_map(|served| &served.features);
        features.flat_map(|value| value.to_le_bytes()).collect()
    }

    /// Puts the features back, as they were kept.
    pub fn put_features(&mut self, bytes: &[u8]) {
        if let Some(served) = &mut self.served {
            let (values, _) = bytes.as_chunks::<4>();
            served.features = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
        }
    }

    /// What it teaches, as far as its router has taken it in.
    pub fn observation(&self) -> Option<Observation> {
        self.applied.as_ref().and_then(Applied::observation)
    }
}

/// A turn that was answered by the arm a router chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServedTurn {
    /// Which router.
    pub router: String,
    /// Which arm.
    pub arm: String,
    /// How likely it was to be chosen.
    pub propensity: f64,
    /// When.
    pub ts: Timestamp,
    /// In which life of the arm; what a later life hears of it teaches nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<u32>,
    // Kept by themselves.
    #[serde(skip)]
    features: Vec<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shadow: Option<Shadow>,
}

impl ServedTurn {
    pub(super) fn new(choice: &RouterChoice, ts: Timestamp, life: Option<u32>) -> Self {
        Self {
            router: choice.router.clone(),
            arm: choice.arm.clone(),
            propensity: choice.propensity,
            ts,
            life,
            features: choice.features.clone(),
            shadow: choice.shadow.map(|(offset, slope)| Shadow { offset, slope }),
        }
    }

    /// The features of the request; none for routers that do not look at them.
    pub fn features(&self) -> Vec<f64> {
        self.features.iter().map(|value| f64::from(*value)).collect()
    }

    pub(super) fn credit<'a>(&'a self, features: &'a [f64], hour: u64) -> Credit<'a> {
        Credit { arm: &self.arm, features, shadow: self.shadow, hour }
    }

    pub(super) fn forget(&mut self) {
        self.features = Vec::new();
    }
}
