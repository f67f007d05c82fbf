//! Experiment definitions and their validation.

use std::collections::BTreeSet;

use model::{BadData, Metric};
pub use model::{ExperimentUnit, MetricBy};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check_field;

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
    #[serde(skip_serializing_if = "Option::is_none")]
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
    pub rollout: Option<Rollout>,
    /// Replaces the weights by adaptive shares.
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
        let both = self.rollout.is_some() && self.adaptive.is_some();
        check_field(
            !both,
            "adaptive",
            &"given together with rollout",
            "rollout or adaptive, not both",
        )?;
        if let Some(rollout) = &self.rollout {
            check_rollout(rollout)?;
        }
        if let Some(min_share) = self.min_share() {
            let most = self.max_min_share();
            let expected = format!("above 0, at most {most} with so many variants");
            let fits = min_share > 0.0 && min_share <= most;
            check_field(fits, "adaptive.min_share", &min_share, &expected)?;
        }
        let fits = (0.0001..=0.5).contains(&self.alpha);
        check_field(fits, "alpha", &self.alpha, "a number from 0.0001 to 0.5")
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
}

fn check_variants(variants: &[Variant]) -> Result<(), BadData> {
    let expected = format!("2 to {MAX_VARIANTS}, the control first");
    let fits = (2..=MAX_VARIANTS).contains(&variants.len());
    check_field(fits, "variants", &format!("{} variants", variants.len()), &expected)?;
    let mut known = BTreeSet::new();
    for (index, Variant { name, weight, .. }) in variants.iter().enumerate() {
        let field = format!("variants[{index}].name");
        check_name(&field, name)?;
        let expected = "a name that no other variant has";
        check_field(known.insert(name.as_str()), &field, &format!("{name:?}"), expected)?;
        let field = format!("variants[{index}].weight");
        check_field((0.0..=1e9).contains(weight), &field, weight, "a number from 0 to 1e9")?;
    }
    let has_weight = |variant: &Variant| variant.weight > 0.0;
    let expected = "above 0: the first variant is the control";
    check_field(variants.first().is_some_and(has_weight), "variants[0].weight", &0, expected)?;
    let (treated, got) =
        (variants.iter().skip(1).any(has_weight), "weights of 0 for all treatments");
    check_field(treated, "variants", &got, "a weight above 0 for at least one treatment")
}

fn check_guardrails(guardrails: &[Guardrail]) -> Result<(), BadData> {
    let mut known = BTreeSet::new();
    for (index, Guardrail { metric, limit }) in guardrails.iter().enumerate() {
        let field = format!("guardrails[{index}].limit");
        check_field(limit.is_finite(), &field, limit, "a number")?;
        let fits = !metric.is_share() || (0.0..=1.0).contains(limit);
        check_field(
            fits,
            &field,
            limit,
            &format!("from 0 to 1, because {} is a share", metric.word()),
        )?;
        let (field, expected) =
            (format!("guardrails[{index}].metric"), "one guardrail for each metric");
        check_field(known.insert(metric), &field, &metric.word(), expected)?;
    }
    Ok(())
}

fn check_rollout(rollout: &Rollout) -> Result<(), BadData> {
    let Rollout { steps, margin, min_units } = rollout;
    let rising = steps.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = steps.iter().all(|step| *step > 0.0 && *step <= 100.0);
    let fits = (1..=100).contains(&steps.len()) && rising && inside;
    let expected =
        "1 to 100 ascending percentages above 0, at most 100, such as [1, 5, 25, 50, 100]";
    check_field(fits, "rollout.steps", &format!("{steps:?}"), expected)?;
    let fits = margin.is_finite() && *margin >= 0.0;
    check_field(fits, "rollout.margin", margin, "a number not below 0")?;
    let (fits, least) = (*min_units >= super::MIN_UNITS, super::MIN_UNITS);
    check_field(fits, "rollout.min_units", min_units, &format!("at least {least}"))
}

fn check_name(field: &str, name: &str) -> Result<(), BadData> {
    let fits = !name.trim().is_empty() && name.len() <= MAX_NAME_BYTES;
    let expected = format!("1 to {MAX_NAME_BYTES} bytes, not only spaces");
    check_field(fits, field, &format!("{} bytes", name.len()), &expected)?;
    let clean = !name.chars().any(char::is_control);
    check_field(clean, field, &format!("{name:?}"), "no control characters")
}
