//! How a router turns signals into rewards: as it is written, and as it is meant.

use std::collections::BTreeMap;

use model::BadData;
use serde::{Deserialize, Serialize};

use super::override_condition::Condition;

/// A reward definition as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RewardDefinition {
    /// How much what people say counts.
    pub explicit_weight: f64,
    /// How much what people do counts.
    pub implicit_weight: f64,
    /// Up to the first an answer is quick, beyond the second it is slow.
    pub latency_seconds: [f64; 2],
    /// How much of the reward a cost of `cost_ref` takes away.
    pub cost_weight: f64,
    /// The cost that takes away the whole weight.
    pub cost_ref: f64,
    /// How much of the reward a wait of `latency_ref` takes away.
    pub latency_weight: f64,
    /// The wait, in seconds, that takes away the whole weight.
    pub latency_ref: f64,
    /// Conditions such as `export` or `dwell_ms>=30000`, and the implicit reward when they hold.
    pub overrides: BTreeMap<String, f64>,
}

impl Default for RewardDefinition {
    fn default() -> Self {
        Self {
            explicit_weight: 0.7,
            implicit_weight: 0.3,
            latency_seconds: [10.0, 30.0],
            cost_weight: 0.0,
            cost_ref: 0.01,
            latency_weight: 0.0,
            latency_ref: 10.0,
            overrides: BTreeMap::new(),
        }
    }
}

/// A reward definition that makes sense.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RewardRule {
    written: RewardDefinition,
    overrides: Vec<(Condition, f64)>,
}

impl RewardRule {
    /// Checks a definition; the error names the field that does not fit.
    pub fn new(written: RewardDefinition) -> Result<Self, BadData> {
        within_one("reward.explicit_weight", written.explicit_weight)?;
        within_one("reward.implicit_weight", written.implicit_weight)?;
        if written.explicit_weight + written.implicit_weight <= 0.0 {
            return Err(unfit("reward.explicit_weight", 0.0, "above 0 when implicit_weight is 0"));
        }
        let [quick, slow] = written.latency_seconds;
        if !(quick >= 0.0 && slow >= quick && slow.is_finite()) {
            return Err(BadData {
                field: "reward.latency_seconds".to_owned(),
                got: format!("[{quick}, {slow}]"),
                expected: "two numbers not below 0, the smaller first".to_owned(),
            });
        }
        not_negative("reward.cost_weight", written.cost_weight)?;
        not_negative("reward.latency_weight", written.latency_weight)?;
        above_zero("reward.cost_ref", written.cost_ref)?;
        above_zero("reward.latency_ref", written.latency_ref)?;
        let mut overrides = Vec::with_capacity(written.overrides.len());
        for (text, reward) in &written.overrides {
            within_one(&format!("reward.overrides.{text}"), *reward)?;
            overrides.push((Condition::parse(text)?, *reward));
        }
        Ok(Self { written, overrides })
    }

    /// As it was written.
    pub fn definition(&self) -> &RewardDefinition {
        &self.written
    }

    pub(crate) fn explicit_weight(&self) -> f64 {
        self.written.explicit_weight
    }

    pub(crate) fn implicit_weight(&self) -> f64 {
        self.written.implicit_weight
    }

    pub(crate) fn overrides(&self) -> &[(Condition, f64)] {
        &self.overrides
    }

    /// A reward less what the answer cost and how long it took, still from 0 to 1.
    pub(crate) fn net(&self, quality: f64, cost: Option<f64>, seconds: Option<f64>) -> f64 {
        let written = &self.written;
        let cost = written.cost_weight * cost.unwrap_or(0.0) / written.cost_ref;
        let wait = written.latency_weight * seconds.unwrap_or(0.0) / written.latency_ref;
        (quality - cost - wait).clamp(0.0, 1.0)
    }
}

fn unfit(field: &str, got: f64, expected: &str) -> BadData {
    BadData { field: field.to_owned(), got: got.to_string(), expected: expected.to_owned() }
}

fn within_one(field: &str, value: f64) -> Result<(), BadData> {
    let fits = (0.0..=1.0).contains(&value);
    if fits { Ok(()) } else { Err(unfit(field, value, "a number from 0 to 1")) }
}

fn not_negative(field: &str, value: f64) -> Result<(), BadData> {
    let fits = value.is_finite() && value >= 0.0;
    if fits { Ok(()) } else { Err(unfit(field, value, "a number not below 0")) }
}

fn above_zero(field: &str, value: f64) -> Result<(), BadData> {
    let fits = value.is_finite() && value > 0.0;
    if fits { Ok(()) } else { Err(unfit(field, value, "a number above 0")) }
}
