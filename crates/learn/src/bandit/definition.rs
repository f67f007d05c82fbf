//! Router definitions: the JSON form and the validated rule.

use std::collections::BTreeSet;

use model::BadData;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::discount::{Decay, Discount};
use super::{MAX_ARMS, MAX_FEATURES};
use crate::check_field;
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
    pub price_in: Option<f64>,
    /// Price per million output tokens.
    pub price_out: Option<f64>,
    /// Expected reward before any observation, 0 to 1.
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
    pub discount: Option<Discount>,
    /// Minimum propensity of every enabled arm.
    #[serde(default = "default_min_propensity")]
    pub min_propensity: f64,
    pub daily_budget: Option<f64>,
    /// Makes the choices reproducible.
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
        let fits = (0.0..=0.5).contains(&least);
        check_field(fits, "min_propensity", &least, "a number from 0 to 0.5")?;
        if let Some(budget) = definition.daily_budget {
            let fits = budget.is_finite() && budget > 0.0;
            check_field(fits, "daily_budget", &budget, "a number above 0")?;
        }
        let fits = (1..=MAX_FEATURES).contains(&definition.features);
        let expected = format!("a number from 1 to {MAX_FEATURES}");
        check_field(fits, "features", &definition.features, &expected)?;
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

    /// A discount is the user's own rule for old observations, also one of 1. The reward of a
    /// contextual algorithm's arm changes with the requests that the arm gets.
    pub(super) fn detects_falls(&self) -> bool {
        match self.definition.algorithm {
            Algorithm::Thompson | Algorithm::EpsilonGreedy | Algorithm::Ucb1 => {
                self.definition.discount.is_none()
            }
            Algorithm::LinUcb
            | Algorithm::LinTs
            | Algorithm::Hybrid
            | Algorithm::Fixed
            | Algorithm::Random => false,
        }
    }

    pub(super) fn decay(&self) -> Decay {
        self.decay
    }
}

fn check_arms(arms: &[ArmDefinition]) -> Result<(), BadData> {
    let fits = (1..=MAX_ARMS).contains(&arms.len());
    check_field(fits, "arms", &arms.len(), &format!("1 to {MAX_ARMS} arms"))?;
    let mut known = BTreeSet::new();
    for (index, arm) in arms.iter().enumerate() {
        let check = |fits: bool, name: &str, got: &dyn ToString, expected: &str| {
            check_field(fits, &format!("arms[{index}].{name}"), got, expected)
        };
        let (bytes, shown) = (arm.id.len(), format!("{:?}", arm.id));
        check((1..=200).contains(&bytes), "id", &format!("{bytes} bytes"), "1 to 200 bytes")?;
        check(!arm.id.chars().any(char::is_control), "id", &shown, "no control characters")?;
        check(known.insert(arm.id.as_str()), "id", &shown, "an id that no other arm has")?;
        for (name, price) in [("price_in", arm.price_in), ("price_out", arm.price_out)] {
            let price = price.unwrap_or(0.0);
            check(price.is_finite() && price >= 0.0, name, &price, "a number not below 0")?;
        }
        let quality = arm.prior_quality.unwrap_or(0.0);
        check((0.0..=1.0).contains(&quality), "prior_quality", &quality, "a number from 0 to 1")?;
    }
    let enabled = arms.iter().any(|arm| arm.enabled);
    check_field(enabled, "arms", &"all disabled", "at least one enabled arm")
}
