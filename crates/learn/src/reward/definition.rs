//! Reward definitions: the JSON form and the validated rule.

use std::collections::BTreeMap;

use model::BadData;
use serde::{Deserialize, Serialize};

use super::override_condition::OverrideCondition;
use crate::bad_data;

/// A reward definition as configured by the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RewardDefinition {
    /// Weight of explicit feedback, 0 to 1.
    pub explicit_weight: f64,
    /// Weight of implicit signals, 0 to 1.
    pub implicit_weight: f64,
    /// Answers up to the first bound are fast, beyond the second slow.
    pub latency_seconds: [f64; 2],
    /// Reward subtracted at a cost of `cost_ref`.
    pub cost_weight: f64,
    /// Cost at which the full `cost_weight` is subtracted.
    pub cost_ref: f64,
    /// Reward subtracted at a latency of `latency_ref`.
    pub latency_weight: f64,
    /// Latency in seconds at which the full `latency_weight` is subtracted.
    pub latency_ref: f64,
    /// Conditions such as `export` or `dwell_ms>=30000`, with the implicit reward when they hold.
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

/// A validated reward definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RewardRule {
    definition: RewardDefinition,
    overrides: Vec<(OverrideCondition, f64)>,
}

impl RewardRule {
    /// Validates a definition. The error names the offending field.
    pub fn new(written: RewardDefinition) -> Result<Self, BadData> {
        check_unit_range("reward.explicit_weight", written.explicit_weight)?;
        check_unit_range("reward.implicit_weight", written.implicit_weight)?;
        if written.explicit_weight + written.implicit_weight <= 0.0 {
            return Err(bad_data(
                "reward.explicit_weight",
                &0.0,
                "above 0 when implicit_weight is 0",
            ));
        }
        let [quick, slow] = written.latency_seconds;
        if !(quick >= 0.0 && slow >= quick && slow.is_finite()) {
            return Err(BadData {
                field: "reward.latency_seconds".to_owned(),
                got: format!("[{quick}, {slow}]"),
                expected: "two numbers not below 0, the smaller first".to_owned(),
            });
        }
        check_not_negative("reward.cost_weight", written.cost_weight)?;
        check_not_negative("reward.latency_weight", written.latency_weight)?;
        check_positive("reward.cost_ref", written.cost_ref)?;
        check_positive("reward.latency_ref", written.latency_ref)?;
        let mut overrides = Vec::with_capacity(written.overrides.len());
        for (text, reward) in &written.overrides {
            check_unit_range(&format!("reward.overrides.{text}"), *reward)?;
            overrides.push((OverrideCondition::parse(text)?, *reward));
        }
        Ok(Self { definition: written, overrides })
    }

    pub fn definition(&self) -> &RewardDefinition {
        &self.definition
    }

    pub(crate) fn explicit_weight(&self) -> f64 {
        self.definition.explicit_weight
    }

    pub(crate) fn implicit_weight(&self) -> f64 {
        self.definition.implicit_weight
    }

    pub(crate) fn overrides(&self) -> &[(OverrideCondition, f64)] {
        &self.overrides
    }

    /// The reward after cost and latency penalties, clamped to 0..=1.
    pub(crate) fn net_reward(&self, quality: f64, cost: Option<f64>, seconds: Option<f64>) -> f64 {
        let written = &self.definition;
        let cost = written.cost_weight * cost.unwrap_or(0.0) / written.cost_ref;
        let wait = written.latency_weight * seconds.unwrap_or(0.0) / written.latency_ref;
        (quality - cost - wait).clamp(0.0, 1.0)
    }
}

fn check_unit_range(field: &str, value: f64) -> Result<(), BadData> {
    let fits = (0.0..=1.0).contains(&value);
    if fits { Ok(()) } else { Err(bad_data(field, &value, "a number from 0 to 1")) }
}

fn check_not_negative(field: &str, value: f64) -> Result<(), BadData> {
    let fits = value.is_finite() && value >= 0.0;
    if fits { Ok(()) } else { Err(bad_data(field, &value, "a number not below 0")) }
}

fn check_positive(field: &str, value: f64) -> Result<(), BadData> {
    let fits = value.is_finite() && value > 0.0;
    if fits { Ok(()) } else { Err(bad_data(field, &value, "a number above 0")) }
}
