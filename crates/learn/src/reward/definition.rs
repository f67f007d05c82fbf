//! Reward definitions: the JSON form, the validated rule and its override conditions.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use model::{BadData, InteractionKind};
use serde::{Deserialize, Serialize};

use crate::check_field;

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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RewardRule {
    definition: RewardDefinition,
    overrides: Vec<(OverrideCondition, f64)>,
}

impl RewardRule {
    pub fn new(definition: RewardDefinition) -> Result<Self, BadData> {
        let RewardDefinition { explicit_weight, implicit_weight, .. } = definition;
        check_unit_range("reward.explicit_weight", explicit_weight)?;
        check_unit_range("reward.implicit_weight", implicit_weight)?;
        let expected = "above 0 when implicit_weight is 0";
        let weighted = explicit_weight + implicit_weight > 0.0;
        check_field(weighted, "reward.explicit_weight", &0.0, expected)?;
        let [quick, slow] = definition.latency_seconds;
        let fits = quick >= 0.0 && slow >= quick && slow.is_finite();
        let (got, expected) =
            (format!("[{quick}, {slow}]"), "two numbers not below 0, the smaller first");
        check_field(fits, "reward.latency_seconds", &got, expected)?;
        let RewardDefinition { cost_weight, latency_weight, cost_ref, latency_ref, .. } =
            definition;
        for (field, weight) in
            [("reward.cost_weight", cost_weight), ("reward.latency_weight", latency_weight)]
        {
            let fits = weight.is_finite() && weight >= 0.0;
            check_field(fits, field, &weight, "a number not below 0")?;
        }
        for (field, scale) in [("reward.cost_ref", cost_ref), ("reward.latency_ref", latency_ref)] {
            check_field(scale.is_finite() && scale > 0.0, field, &scale, "a number above 0")?;
        }
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
    check_field((0.0..=1.0).contains(&value), field, &value, "a number from 0 to 1")
}

/// Condition of a reward override, such as `export` or `dwell_ms>=30000`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OverrideCondition {
    Interaction(InteractionKind),
    Dwell(DwellBound),
}

/// Holds for values on one side of the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DwellBound {
    side: Ordering,
    inclusive: bool,
    limit: f64,
}

impl DwellBound {
    pub(super) fn is_met(self, value: f64) -> bool {
        let compared = value.partial_cmp(&self.limit);
        compared == Some(self.side) || (self.inclusive && compared == Some(Ordering::Equal))
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
    // The longer operators come first, or ">=" would parse as ">".
    let signs = [
        (">=", Ordering::Greater, true),
        ("<=", Ordering::Less, true),
        (">", Ordering::Greater, false),
        ("<", Ordering::Less, false),
    ];
    signs.into_iter().find_map(|(sign, side, inclusive)| {
        let limit: f64 = text.strip_prefix(sign)?.trim().parse().ok()?;
        (limit.is_finite() && limit >= 0.0).then_some(DwellBound { side, inclusive, limit })
    })
}
