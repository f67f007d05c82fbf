//! An experiment as it is written, and what makes it sensible.

use std::collections::BTreeSet;

use model::{BadData, Metric, UnitTotals};
pub use model::{ExperimentUnit as Unit, MetricBy as By};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// More variants than this are refused: each comparison takes its part of the error allowed.
const MOST_VARIANTS: usize = 16;
const LONGEST_NAME: usize = 200;
/// The least share of a variant when nobody says, unless there are too many for it.
const USUAL_FLOOR: f64 = 0.05;

/// One variant. The first of an experiment is the control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its part of the traffic, relative to the others.
    #[serde(default = "one")]
    pub weight: f64,
    /// What the application does with it: a prompt, a model, a strategy.
    #[serde(default)]
    pub payload: Value,
}

/// A metric that must not leave its bounds, whatever the experiment's own metric does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guardrail {
    /// Which.
    pub metric: Metric,
    /// The most for a metric where less is better, the least for one where more is.
    pub limit: f64,
}

/// A gradual rollout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rollout {
    /// Percent of the units that get a treatment, step by step.
    #[serde(default = "usual_steps")]
    pub steps: Vec<f64>,
    /// How much worse than the control is still borne, in the metric's own unit.
    pub margin: f64,
    /// Units of each arm that must have been seen at a step before the next.
    #[serde(default = "usual_units")]
    pub min_units: u64,
}

/// Traffic that follows what is learnt (Thompson over the variants).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adaptive {
    /// The least share of every variant, so that a verdict stays possible. Usual is one that fits the
    /// number of variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_share: Option<f64>,
}

/// An experiment as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentDefinition {
    /// Its name.
    pub name: String,
    /// Who is assigned as a whole.
    pub unit: Unit,
    /// What is compared; the first is the control.
    pub variants: Vec<Variant>,
    /// What decides.
    pub metric: Metric,
    /// What its mean is taken over. Guardrails are always by turn.
    #[serde(default)]
    pub by: By,
    /// What must not get out of bounds.
    #[serde(default)]
    pub guardrails: Vec<Guardrail>,
    /// Step by step instead of by weights.
    #[serde(default)]
    pub rollout: Option<Rollout>,
    /// By what is learnt instead of by weights.
    #[serde(default)]
    pub adaptive: Option<Adaptive>,
    /// The chance of a wrong verdict that is allowed, over all looks and comparisons.
    #[serde(default = "usual_alpha")]
    pub alpha: f64,
}

fn one() -> f64 {
    1.0
}

fn usual_steps() -> Vec<f64> {
    vec![1.0, 5.0, 25.0, 50.0, 100.0]
}

fn usual_units() -> u64 {
    super::LEAST_UNITS
}

fn usual_alpha() -> f64 {
    0.05
}

impl ExperimentDefinition {
    /// Says which field does not fit, and what would.
    pub fn check(&self) -> Result<(), BadData> {
        check_name("name", &self.name)?;
        check_variants(&self.variants)?;
        check_guardrails(&self.guardrails)?;
        if self.rollout.is_some() && self.adaptive.is_some() {
            return Err(bad("adaptive", &"given beside rollout", "one of the two, or neither"));
        }
        if let Some(rollout) = &self.rollout {
            check_rollout(rollout)?;
        }
        if let Some(min_share) = self.floor() {
            let most = self.most_floor();
            if !(min_share > 0.0 && min_share <= most) {
                let expected = format!("above 0, at most {most} with so many variants");
                return Err(bad("adaptive.min_share", &min_share, &expected));
            }
        }
        if !(0.0001..=0.5).contains(&self.alpha) {
            return Err(bad("alpha", &self.alpha, "a number from 0.0001 to 0.5"));
        }
        Ok(())
    }

    /// The least share of every variant, where shares follow what is learnt.
    pub fn floor(&self) -> Option<f64> {
        let adaptive = self.adaptive?;
        Some(adaptive.min_share.unwrap_or(USUAL_FLOOR.min(self.most_floor())))
    }

    /// Half of the traffic must be free to follow.
    fn most_floor(&self) -> f64 {
        0.5 / self.variants.len() as f64
    }

    /// How many comparisons with the control there are.
    pub fn comparisons(&self) -> usize {
        self.variants.len().saturating_sub(1)
    }

    /// The part of the error allowed that one comparison may use (Bonferroni).
    pub fn alpha_each(&self) -> f64 {
        self.alpha / self.comparisons().max(1) as f64
    }

    /// A unit's totals as the experiment's metric counts them.
    pub fn counted(&self, totals: UnitTotals) -> UnitTotals {
        totals.weighted_by(self.by)
    }
}

fn check_variants(variants: &[Variant]) -> Result<(), BadData> {
    if !(2..=MOST_VARIANTS).contains(&variants.len()) {
        let expected = format!("2 to {MOST_VARIANTS}, the control first");
        return Err(bad("variants", &format!("{} variants", variants.len()), &expected));
    }
    let mut known = BTreeSet::new();
    for (index, variant) in variants.iter().enumerate() {
        let field = |name: &str| format!("variants[{index}].{name}");
        check_name(&field("name"), &variant.name)?;
        if !known.insert(variant.name.as_str()) {
            let got = format!("{:?}", variant.name);
            return Err(bad(&field("name"), &got, "a name that no other variant has"));
        }
        if !(variant.weight.is_finite() && (0.0..=1e9).contains(&variant.weight)) {
            return Err(bad(&field("weight"), &variant.weight, "a number from 0 to 1e9"));
        }
    }
    let weight = |variant: &Variant| variant.weight > 0.0;
    if !variants.first().is_some_and(weight) {
        return Err(bad("variants[0].weight", &0, "above 0: the first variant is the control"));
    }
    if !variants.iter().skip(1).any(weight) {
        return Err(bad("variants", &"nothing but the control", "a weight above 0 for another"));
    }
    Ok(())
}

fn check_guardrails(guardrails: &[Guardrail]) -> Result<(), BadData> {
    let mut known = BTreeSet::new();
    for (index, Guardrail { metric, limit }) in guardrails.iter().enumerate() {
        if !limit.is_finite() {
            return Err(bad(&format!("guardrails[{index}].limit"), limit, "a number"));
        }
        if metric.is_share() && !(0.0..=1.0).contains(limit) {
            let expected = format!("from 0 to 1, as {} is", metric.word());
            return Err(bad(&format!("guardrails[{index}].limit"), limit, &expected));
        }
        if !known.insert(metric) {
            let field = format!("guardrails[{index}].metric");
            return Err(bad(&field, &metric.word(), "one guardrail for each metric"));
        }
    }
    Ok(())
}

fn check_rollout(rollout: &Rollout) -> Result<(), BadData> {
    let steps = &rollout.steps;
    let rising = steps.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = steps.iter().all(|step| *step > 0.0 && *step <= 100.0);
    if steps.is_empty() || steps.len() > 100 || !rising || !inside {
        let expected =
            "1 to 100 percentages above 0 that rise to at most 100, as [1, 5, 25, 50, 100]";
        return Err(bad("rollout.steps", &format!("{steps:?}"), expected));
    }
    if !(rollout.margin.is_finite() && rollout.margin >= 0.0) {
        return Err(bad("rollout.margin", &rollout.margin, "a number not below 0"));
    }
    if rollout.min_units < super::LEAST_UNITS {
        let expected = format!("at least {}", super::LEAST_UNITS);
        return Err(bad("rollout.min_units", &rollout.min_units, &expected));
    }
    Ok(())
}

fn check_name(field: &str, name: &str) -> Result<(), BadData> {
    if name.trim().is_empty() || name.len() > LONGEST_NAME {
        let expected = format!("1 to {LONGEST_NAME} bytes, not only spaces");
        return Err(bad(field, &format!("{} bytes", name.len()), &expected));
    }
    if name.chars().any(char::is_control) {
        return Err(bad(field, &format!("{name:?}"), "no control characters"));
    }
    Ok(())
}

fn bad(field: &str, got: &dyn ToString, expected: &str) -> BadData {
    BadData { field: field.to_owned(), got: got.to_string(), expected: expected.to_owned() }
}
