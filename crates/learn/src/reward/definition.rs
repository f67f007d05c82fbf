//! Reward definitions: the JSON form, the validated rule and its override conditions.

use std::collections::BTreeMap;

use model::{BadData, InteractionKind};
use serde::{Deserialize, Serialize};

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
    pub fn new(definition: RewardDefinition) -> Result<Self, BadData> {
        check_unit_range("reward.explicit_weight", definition.explicit_weight)?;
        check_unit_range("reward.implicit_weight", definition.implicit_weight)?;
        if definition.explicit_weight + definition.implicit_weight <= 0.0 {
            let expected = "above 0 when implicit_weight is 0";
            return Err(bad_data("reward.explicit_weight", &0.0, expected));
        }
        let [quick, slow] = definition.latency_seconds;
        if !(quick >= 0.0 && slow >= quick && slow.is_finite()) {
            let (got, expected) =
                (format!("[{quick}, {slow}]"), "two numbers not below 0, the smaller first");
            return Err(bad_data("reward.latency_seconds", &got, expected));
        }
        check_not_negative("reward.cost_weight", definition.cost_weight)?;
        check_not_negative("reward.latency_weight", definition.latency_weight)?;
        check_positive("reward.cost_ref", definition.cost_ref)?;
        check_positive("reward.latency_ref", definition.latency_ref)?;
        let mut overrides = Vec::with_capacity(definition.overrides.len());
        for (text, reward) in &definition.overrides {
            check_unit_range(&format!("reward.overrides.{text}"), *reward)?;
            overrides.push((OverrideCondition::parse(text)?, *reward));
        }
        Ok(Self { definition, overrides })
    }

    pub fn definition(&self) -> &RewardDefinition {
        &self.definition
    }

    pub(super) fn overrides(&self) -> &[(OverrideCondition, f64)] {
        &self.overrides
    }

    /// The reward after cost and latency penalties, clamped to 0..=1.
    pub(super) fn net_reward(&self, quality: f64, cost: Option<f64>, seconds: Option<f64>) -> f64 {
        let definition = &self.definition;
        let cost = definition.cost_weight * cost.unwrap_or(0.0) / definition.cost_ref;
        let wait = definition.latency_weight * seconds.unwrap_or(0.0) / definition.latency_ref;
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

/// Condition of a reward override, such as `export` or `dwell_ms>=30000`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OverrideCondition {
    Interaction(InteractionKind),
    Dwell(DwellBound),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DwellBound {
    AtLeast(f64),
    Above(f64),
    AtMost(f64),
    Below(f64),
}

impl DwellBound {
    pub(super) fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::Above(limit) => value > limit,
            Self::AtMost(limit) => value <= limit,
            Self::Below(limit) => value < limit,
        }
    }
}

impl OverrideCondition {
    pub(super) fn parse(text: &str) -> Result<Self, BadData> {
        let bare = text.trim();
        if let Some(kind) = InteractionKind::from_word(bare) {
            return Ok(Self::Interaction(kind));
        }
        let bound = bare.strip_prefix("dwell_ms").map(str::trim_start).and_then(parse_bound);
        bound.map(Self::Dwell).ok_or_else(|| BadData {
            field: "reward.overrides".to_owned(),
            got: format!("{:?}", text.chars().take(40).collect::<String>()),
            expected: format!(
                "a comparison such as \"dwell_ms>=30000\", or one of {}",
                InteractionKind::WORDS.join(", ")
            ),
        })
    }
}

fn parse_bound(text: &str) -> Option<DwellBound> {
    let limit = |sign: &str| {
        let limit: f64 = text.strip_prefix(sign)?.trim().parse().ok()?;
        (limit.is_finite() && limit >= 0.0).then_some(limit)
    };
    // The longer operators come first, or ">=" would parse as ">".
    limit(">=")
        .map(DwellBound::AtLeast)
        .or_else(|| limit("<=").map(DwellBound::AtMost))
        .or_else(|| limit(">").map(DwellBound::Above))
        .or_else(|| limit("<").map(DwellBound::Below))
}
