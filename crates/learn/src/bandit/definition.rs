//! Router definitions: the JSON form and the validated rule.

use std::collections::BTreeSet;

use model::BadData;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::discount::{Decay, Discount};
use super::{MAX_ARMS, MAX_FEATURES};
use crate::bad_data;
use crate::reward::{RewardDefinition, RewardRule};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Thompson sampling on Beta posteriors.
    #[default]
    Thompson,
    /// Linear model; the arm with the highest upper confidence bound.
    #[serde(rename = "linucb")]
    LinUcb,
    /// Linear model; the arm with the highest posterior draw.
    #[serde(rename = "lints")]
    LinTs,
    /// Thompson until a shadow `lints` proves better.
    Hybrid,
    /// The highest mean, with a small probability of a random arm.
    EpsilonGreedy,
    Ucb1,
    /// The first enabled arm.
    Fixed,
    Random,
}

impl Algorithm {
    /// True when the algorithm uses the request's features.
    pub fn is_contextual(self) -> bool {
        match self {
            Self::LinUcb | Self::LinTs | Self::Hybrid => true,
            Self::Thompson | Self::EpsilonGreedy | Self::Ucb1 | Self::Fixed | Self::Random => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmDefinition {
    pub id: String,
    /// Price per million input tokens.
    #[serde(default)]
    pub price_in: Option<f64>,
    /// Price per million output tokens.
    #[serde(default)]
    pub price_out: Option<f64>,
    /// Expected reward before any observation, 0 to 1.
    #[serde(default)]
    pub prior_quality: Option<f64>,
    #[serde(default = "default_enabled")]
    pub enabled: bool,
}

fn default_enabled() -> bool {
    true
}

impl ArmDefinition {
    pub fn price_call(&self, tokens_in: f64, tokens_out: f64) -> Option<f64> {
        let known = self.price_in.is_some() || self.price_out.is_some();
        let (into, out) = (self.price_in.unwrap_or(0.0), self.price_out.unwrap_or(0.0));
        known.then(|| (into * tokens_in + out * tokens_out) / 1e6)
    }
}

/// A router as configured by the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterDefinition {
    pub arms: Vec<ArmDefinition>,
    #[serde(default)]
    pub algorithm: Algorithm,
    #[serde(default)]
    pub reward: RewardDefinition,
    #[serde(default)]
    pub discount: Option<Discount>,
    /// Minimum propensity of every enabled arm.
    #[serde(default = "default_min_propensity")]
    pub min_propensity: f64,
    /// Spending limit of all calls per day.
    #[serde(default)]
    pub daily_budget: Option<f64>,
    /// Makes the choices reproducible.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Feature count of a choice, without the intercept.
    #[serde(default = "default_features")]
    pub features: usize,
}

fn default_min_propensity() -> f64 {
    0.01
}

fn default_features() -> usize {
    32
}

impl RouterDefinition {
    #[expect(clippy::expect_used, reason = "every other field has a default")]
    pub fn from_arm_ids(ids: &[&str]) -> Self {
        let arms: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        serde_json::from_value(json!({"arms": arms})).expect("an arm needs nothing but an id")
    }
}

/// A validated router definition.
#[derive(Clone, Debug, PartialEq)]
pub struct RouterRule {
    definition: RouterDefinition,
    reward: RewardRule,
    decay: Decay,
}

impl RouterRule {
    pub fn new(definition: RouterDefinition) -> Result<Self, BadData> {
        check_arms(&definition.arms)?;
        let least = definition.min_propensity;
        if !(0.0..=0.5).contains(&least) {
            return Err(bad_data("min_propensity", &least, "a number from 0 to 0.5"));
        }
        if let Some(budget) = definition.daily_budget
            && !(budget.is_finite() && budget > 0.0)
        {
            return Err(bad_data("daily_budget", &budget, "a number above 0"));
        }
        if definition.features == 0 || definition.features > MAX_FEATURES {
            let expected = format!("a number from 1 to {MAX_FEATURES}");
            return Err(bad_data("features", &definition.features, &expected));
        }
        let decay = Decay::new(definition.discount)?;
        let reward = RewardRule::new(definition.reward.clone())?;
        Ok(Self { definition, reward, decay })
    }

    pub fn definition(&self) -> &RouterDefinition {
        &self.definition
    }

    pub fn arms(&self) -> &[ArmDefinition] {
        &self.definition.arms
    }

    pub fn algorithm(&self) -> Algorithm {
        self.definition.algorithm
    }

    pub fn reward(&self) -> &RewardRule {
        &self.reward
    }

    pub(super) fn decay(&self) -> Decay {
        self.decay
    }
}

fn check_arms(arms: &[ArmDefinition]) -> Result<(), BadData> {
    if arms.is_empty() || arms.len() > MAX_ARMS {
        let expected = format!("1 to {MAX_ARMS} arms");
        return Err(bad_data("arms", &arms.len(), &expected));
    }
    let mut known = BTreeSet::new();
    for (index, arm) in arms.iter().enumerate() {
        let field = |name: &str| format!("arms[{index}].{name}");
        let id_error = |got: String, expected: &str| {
            Err(bad_data(&format!("arms[{index}].id"), &got, expected))
        };
        if arm.id.is_empty() || arm.id.len() > 200 {
            return id_error(format!("{} bytes", arm.id.len()), "1 to 200 bytes");
        }
        if arm.id.chars().any(char::is_control) {
            return id_error(format!("{:?}", arm.id), "no control characters");
        }
        if !known.insert(arm.id.as_str()) {
            return id_error(format!("{:?}", arm.id), "an id that no other arm has");
        }
        let prices = [("price_in", arm.price_in), ("price_out", arm.price_out)];
        for (name, price) in prices.into_iter().filter_map(|(name, price)| Some((name, price?))) {
            if !(price.is_finite() && price >= 0.0) {
                return Err(bad_data(&field(name), &price, "a number not below 0"));
            }
        }
        if let Some(quality) = arm.prior_quality.filter(|q| !(0.0..=1.0).contains(q)) {
            return Err(bad_data(&field("prior_quality"), &quality, "a number from 0 to 1"));
        }
    }
    if arms.iter().all(|arm| !arm.enabled) {
        return Err(bad_data("arms", &"all disabled", "at least one enabled arm"));
    }
    Ok(())
}
