//! Experiment definitions and their validation.

use std::collections::BTreeSet;

use model::{BadData, Metric, UnitTotals};
pub use model::{ExperimentUnit, MetricBy};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bad_data;

/// More variants would dilute the error budget of each comparison.
const MAX_VARIANTS: usize = 16;
const MAX_NAME_BYTES: usize = 200;
/// Default minimum share of an adaptive variant, unless there are too many variants.
const DEFAULT_MIN_SHARE: f64 = 0.05;

/// One variant. The first of an experiment is the control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub name: String,
    /// Traffic weight relative to the other variants.
    #[serde(default = "default_weight")]
    pub weight: f64,
    /// Passed to the application: a prompt, a model, a strategy.
    #[serde(default)]
    pub payload: Value,
}

/// A metric limit that holds regardless of the experiment's own metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guardrail {
    pub metric: Metric,
    /// Maximum for metrics where lower is better, minimum for the others.
    pub limit: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rollout {
    /// Percentages of treated units, ascending.
    #[serde(default = "default_steps")]
    pub steps: Vec<f64>,
    /// Accepted loss against the control, in the metric's unit.
    pub margin: f64,
    /// Units per arm required at a step before the next.
    #[serde(default = "default_min_units")]
    pub min_units: u64,
}

/// Adaptive allocation (Thompson sampling over the variants).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveAllocation {
    /// Keeps a verdict possible. The default depends on the number of variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_share: Option<f64>,
}

/// An experiment as configured by the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentDefinition {
    pub name: String,
    pub unit: ExperimentUnit,
    /// The first variant is the control.
    pub variants: Vec<Variant>,
    pub metric: Metric,
    /// Denominator of the metric's mean. Guardrails are always by turn.
    #[serde(default)]
    pub by: MetricBy,
    #[serde(default)]
    pub guardrails: Vec<Guardrail>,
    /// Replaces the weights by rollout steps.
    #[serde(default)]
    pub rollout: Option<Rollout>,
    /// Replaces the weights by adaptive shares.
    #[serde(default)]
    pub adaptive: Option<AdaptiveAllocation>,
    /// Probability of a wrong verdict over all looks and comparisons.
    #[serde(default = "default_alpha")]
    pub alpha: f64,
}

fn default_weight() -> f64 {
    1.0
}

fn default_steps() -> Vec<f64> {
    vec![1.0, 5.0, 25.0, 50.0, 100.0]
}

fn default_min_units() -> u64 {
    super::MIN_UNITS
}

fn default_alpha() -> f64 {
    0.05
}

impl ExperimentDefinition {
    /// Returns the first invalid field and what is expected there.
    pub fn validate(&self) -> Result<(), BadData> {
        check_name("name", &self.name)?;
        check_variants(&self.variants)?;
        check_guardrails(&self.guardrails)?;
        if self.rollout.is_some() && self.adaptive.is_some() {
            return Err(bad_data(
                "adaptive",
                &"given beside rollout",
                "one of the two, or neither",
            ));
        }
        if let Some(rollout) = &self.rollout {
            check_rollout(rollout)?;
        }
        if let Some(min_share) = self.min_share() {
            let most = self.max_min_share();
            if !(min_share > 0.0 && min_share <= most) {
                let expected = format!("above 0, at most {most} with so many variants");
                return Err(bad_data("adaptive.min_share", &min_share, &expected));
            }
        }
        if !(0.0001..=0.5).contains(&self.alpha) {
            return Err(bad_data("alpha", &self.alpha, "a number from 0.0001 to 0.5"));
        }
        Ok(())
    }

    /// Minimum share of every variant; `None` unless adaptive.
    pub fn min_share(&self) -> Option<f64> {
        let adaptive = self.adaptive?;
        Some(adaptive.min_share.unwrap_or(DEFAULT_MIN_SHARE.min(self.max_min_share())))
    }

    /// At least half of the traffic must be free to adapt.
    fn max_min_share(&self) -> f64 {
        0.5 / self.variants.len() as f64
    }

    pub fn comparison_count(&self) -> usize {
        self.variants.len().saturating_sub(1)
    }

    /// Bonferroni share of `alpha` for one comparison.
    pub fn alpha_per_comparison(&self) -> f64 {
        self.alpha / self.comparison_count().max(1) as f64
    }

    /// A unit's totals under the configured denominator.
    pub fn count_totals(&self, totals: UnitTotals) -> UnitTotals {
        totals.by(self.by)
    }
}

fn check_variants(variants: &[Variant]) -> Result<(), BadData> {
    if !(2..=MAX_VARIANTS).contains(&variants.len()) {
        let expected = format!("2 to {MAX_VARIANTS}, the control first");
        return Err(bad_data("variants", &format!("{} variants", variants.len()), &expected));
    }
    let mut known = BTreeSet::new();
    for (index, variant) in variants.iter().enumerate() {
        let field = |name: &str| format!("variants[{index}].{name}");
        check_name(&field("name"), &variant.name)?;
        if !known.insert(variant.name.as_str()) {
            let got = format!("{:?}", variant.name);
            return Err(bad_data(&field("name"), &got, "a name that no other variant has"));
        }
        if !(variant.weight.is_finite() && (0.0..=1e9).contains(&variant.weight)) {
            return Err(bad_data(&field("weight"), &variant.weight, "a number from 0 to 1e9"));
        }
    }
    let weight = |variant: &Variant| variant.weight > 0.0;
    if !variants.first().is_some_and(weight) {
        return Err(bad_data(
            "variants[0].weight",
            &0,
            "above 0: the first variant is the control",
        ));
    }
    if !variants.iter().skip(1).any(weight) {
        return Err(bad_data(
            "variants",
            &"nothing but the control",
            "a weight above 0 for another",
        ));
    }
    Ok(())
}

fn check_guardrails(guardrails: &[Guardrail]) -> Result<(), BadData> {
    let mut known = BTreeSet::new();
    for (index, Guardrail { metric, limit }) in guardrails.iter().enumerate() {
        if !limit.is_finite() {
            return Err(bad_data(&format!("guardrails[{index}].limit"), limit, "a number"));
        }
        if metric.is_share() && !(0.0..=1.0).contains(limit) {
            let expected = format!("from 0 to 1, as {} is", metric.word());
            return Err(bad_data(&format!("guardrails[{index}].limit"), limit, &expected));
        }
        if !known.insert(metric) {
            let field = format!("guardrails[{index}].metric");
            return Err(bad_data(&field, &metric.word(), "one guardrail for each metric"));
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
        return Err(bad_data("rollout.steps", &format!("{steps:?}"), expected));
    }
    if !(rollout.margin.is_finite() && rollout.margin >= 0.0) {
        return Err(bad_data("rollout.margin", &rollout.margin, "a number not below 0"));
    }
    if rollout.min_units < super::MIN_UNITS {
        let expected = format!("at least {}", super::MIN_UNITS);
        return Err(bad_data("rollout.min_units", &rollout.min_units, &expected));
    }
    Ok(())
}

fn check_name(field: &str, name: &str) -> Result<(), BadData> {
    if name.trim().is_empty() || name.len() > MAX_NAME_BYTES {
        let expected = format!("1 to {MAX_NAME_BYTES} bytes, not only spaces");
        return Err(bad_data(field, &format!("{} bytes", name.len()), &expected));
    }
    if name.chars().any(char::is_control) {
        return Err(bad_data(field, &format!("{name:?}"), "no control characters"));
    }
    Ok(())
}
