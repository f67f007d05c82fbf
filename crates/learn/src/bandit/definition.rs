//! A router as it is written, and as it is meant.

use std::collections::BTreeSet;

use model::BadData;
use serde::{Deserialize, Serialize};

use super::discount::{Discount, Fading};
use super::{MOST_ARMS, MOST_FEATURES};
use crate::reward::{RewardDefinition, RewardRule};

/// How arms are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Beta posteriors; the arm with the highest draw.
    #[default]
    Thompson,
    /// Linear in the features; the arm with the highest upper bound.
    #[serde(rename = "linucb")]
    LinUcb,
    /// Linear in the features; the arm with the highest draw.
    #[serde(rename = "lints")]
    LinTs,
    /// Thompson until `lints`, running beside it, is shown to do better.
    Hybrid,
    /// The best mean, and now and then any arm.
    EpsilonGreedy,
    /// The highest upper bound of the mean.
    Ucb1,
    /// The first enabled arm.
    Fixed,
    /// Any arm.
    Random,
}

impl Algorithm {
    /// Whether it looks at the features.
    pub fn is_contextual(self) -> bool {
        match self {
            Self::LinUcb | Self::LinTs | Self::Hybrid => true,
            Self::Thompson | Self::EpsilonGreedy | Self::Ucb1 | Self::Fixed | Self::Random => false,
        }
    }
}

/// One arm as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmDefinition {
    /// The model.
    pub id: String,
    /// Price per million tokens that go in.
    #[serde(default)]
    pub price_in: Option<f64>,
    /// Price per million tokens that come out.
    #[serde(default)]
    pub price_out: Option<f64>,
    /// The reward to expect before anything is known.
    #[serde(default)]
    pub prior_quality: Option<f64>,
    /// Whether it may be chosen.
    #[serde(default = "yes")]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

impl ArmDefinition {
    /// What a call costs by the price list; `None` without prices.
    pub fn price(&self, tokens_in: f64, tokens_out: f64) -> Option<f64> {
        let known = self.price_in.is_some() || self.price_out.is_some();
        let (into, out) = (self.price_in.unwrap_or(0.0), self.price_out.unwrap_or(0.0));
        known.then(|| (into * tokens_in + out * tokens_out) / 1e6)
    }
}

/// A router as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterDefinition {
    /// What can be chosen.
    pub arms: Vec<ArmDefinition>,
    /// How.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// What a turn is worth.
    #[serde(default)]
    pub reward: RewardDefinition,
    /// How what was learnt fades.
    #[serde(default)]
    pub discount: Option<Discount>,
    /// The least chance of an enabled arm.
    #[serde(default = "one_percent")]
    pub min_propensity: f64,
    /// What all calls of a day may cost together.
    #[serde(default)]
    pub daily_budget: Option<f64>,
    /// Makes the choices repeatable.
    #[serde(default)]
    pub seed: Option<u64>,
    /// How many features a choice comes with, the constant not counted.
    #[serde(default = "usual_features")]
    pub features: usize,
}

fn one_percent() -> f64 {
    0.01
}

fn usual_features() -> usize {
    32
}

impl RouterDefinition {
    /// A router over these arms, everything else by default.
    pub fn of(arms: &[&str]) -> Self {
        let arm = |id: &&str| ArmDefinition {
            id: (*id).to_owned(),
            price_in: None,
            price_out: None,
            prior_quality: None,
            enabled: true,
        };
        Self {
            arms: arms.iter().map(arm).collect(),
            algorithm: Algorithm::default(),
            reward: RewardDefinition::default(),
            discount: None,
            min_propensity: one_percent(),
            daily_budget: None,
            seed: None,
            features: usual_features(),
        }
    }
}

/// A router that makes sense.
#[derive(Clone, Debug, PartialEq)]
pub struct RouterRule {
    written: RouterDefinition,
    reward: RewardRule,
    fading: Fading,
}

impl RouterRule {
    /// Checks a definition; the error names the field that does not fit.
    pub fn new(written: RouterDefinition) -> Result<Self, BadData> {
        check_arms(&written.arms)?;
        let least = written.min_propensity;
        if !(0.0..=0.5).contains(&least) {
            return Err(bad("min_propensity".to_owned(), &least, "a number from 0 to 0.5"));
        }
        if let Some(budget) = written.daily_budget
            && !(budget.is_finite() && budget > 0.0)
        {
            return Err(bad("daily_budget".to_owned(), &budget, "a number above 0"));
        }
        if written.features == 0 || written.features > MOST_FEATURES {
            let expected = format!("a number from 1 to {MOST_FEATURES}");
            return Err(bad("features".to_owned(), &written.features, &expected));
        }
        let fading = Fading::new(written.discount)?;
        let reward = RewardRule::new(written.reward.clone())?;
        Ok(Self { written, reward, fading })
    }

    /// As it was written.
    pub fn definition(&self) -> &RouterDefinition {
        &self.written
    }

    /// What can be chosen.
    pub fn arms(&self) -> &[ArmDefinition] {
        &self.written.arms
    }

    /// How arms are chosen.
    pub fn algorithm(&self) -> Algorithm {
        self.written.algorithm
    }

    /// What a turn is worth.
    pub fn reward(&self) -> &RewardRule {
        &self.reward
    }

    pub(super) fn fading(&self) -> Fading {
        self.fading
    }
}

fn check_arms(arms: &[ArmDefinition]) -> Result<(), BadData> {
    if arms.is_empty() || arms.len() > MOST_ARMS {
        let expected = format!("1 to {MOST_ARMS} arms");
        return Err(bad("arms".to_owned(), &arms.len(), &expected));
    }
    let mut known = BTreeSet::new();
    for (index, arm) in arms.iter().enumerate() {
        let field = |name: &str| format!("arms[{index}].{name}");
        if arm.id.is_empty() || arm.id.len() > 200 {
            return Err(bad(field("id"), &format!("{} bytes", arm.id.len()), "1 to 200 bytes"));
        }
        if arm.id.chars().any(char::is_control) {
            return Err(bad(field("id"), &format!("{:?}", arm.id), "no control characters"));
        }
        if !known.insert(arm.id.as_str()) {
            return Err(bad(field("id"), &format!("{:?}", arm.id), "an id that no other arm has"));
        }
        let prices = [("price_in", arm.price_in), ("price_out", arm.price_out)];
        for (name, price) in prices.into_iter().filter_map(|(name, price)| Some((name, price?))) {
            if !(price.is_finite() && price >= 0.0) {
                return Err(bad(field(name), &price, "a number not below 0"));
            }
        }
        if let Some(quality) = arm.prior_quality.filter(|q| !(0.0..=1.0).contains(q)) {
            return Err(bad(field("prior_quality"), &quality, "a number from 0 to 1"));
        }
    }
    if arms.iter().all(|arm| !arm.enabled) {
        return Err(bad("arms".to_owned(), &"all disabled", "at least one enabled arm"));
    }
    Ok(())
}

fn bad(field: String, got: &dyn ToString, expected: &str) -> BadData {
    BadData { field, got: got.to_string(), expected: expected.to_owned() }
}
