//! Results of experiments.

use engine::ExperimentView;
use engine::experiment::{
    DifferenceEstimate, ExperimentResults, GuardrailStatus, SampleRatioTest, VariantComparison,
    VariantResult,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::ProgressBody;

/// Current results of an experiment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResultsBody {
    status: &'static str,
    metric: &'static str,
    variants: Vec<VariantBody>,
    /// Best treatment compared with the control; `comparisons` has all treatments.
    difference: Option<DifferenceBody>,
    comparisons: Vec<ComparisonBody>,
    srm: SrmBody,
    guardrails: Vec<GuardrailBody>,
    /// `undecided`, `better`, `worse` or `no_verdict`.
    verdict: &'static str,
    /// Reason for the verdict, or the missing evidence.
    why: &'static str,
    best: Option<String>,
    progress: Option<ProgressBody>,
}

#[derive(Debug, Serialize, ToSchema)]
struct VariantBody {
    name: String,
    /// Number of exposed units.
    units: u64,
    /// Exposed units with at least one observation.
    observed: u64,
    mean: Option<f64>,
    interval: Option<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
struct DifferenceBody {
    estimate: f64,
    interval: [f64; 2],
    /// N of the confidence sequence: the sum over strata of 2ab/(a+b), with a and b the units of
    /// control and treatment. Null with adaptive shares, which have one interval per variant.
    n: Option<f64>,
    /// True when the interval is valid at every look, from 100 units per variant.
    anytime_valid: bool,
    p_always_valid: f64,
}

#[derive(Debug, Serialize, ToSchema)]
struct ComparisonBody {
    variant: String,
    difference: Option<DifferenceBody>,
    /// Difference adjusted by pre-exposure behaviour (CUPED). Decides the verdict when present.
    cuped: Option<DifferenceBody>,
    variance_reduction: Option<f64>,
    verdict: &'static str,
    why: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
struct SrmBody {
    p: Option<f64>,
    ok: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct GuardrailBody {
    variant: String,
    metric: &'static str,
    limit: f64,
    units: u64,
    mean: Option<f64>,
    bound: Option<f64>,
    crossed: bool,
}

impl ResultsBody {
    pub(crate) fn new(view: &ExperimentView, results: ExperimentResults) -> Self {
        let best = results.best;
        let named =
            |one: &&VariantComparison| best.as_ref().is_none_or(|best| *best == one.variant);
        let shown = results.comparisons.iter().find(named);
        let SampleRatioTest { p, ok } = results.srm;
        Self {
            status: results.status.word(),
            metric: view.definition.metric.word(),
            difference: shown.and_then(|one| one.difference).map(DifferenceBody::from),
            variants: results.variants.into_iter().map(VariantBody::from).collect(),
            comparisons: results.comparisons.into_iter().map(ComparisonBody::from).collect(),
            srm: SrmBody { p, ok },
            guardrails: results.guardrails.into_iter().map(GuardrailBody::from).collect(),
            verdict: results.verdict.word(),
            why: results.why.word(),
            best,
            progress: view.rollout.map(ProgressBody::from),
        }
    }
}

impl From<VariantResult> for VariantBody {
    fn from(one: VariantResult) -> Self {
        let VariantResult { name, units, observed, mean, interval } = one;
        Self { name, units, observed, mean, interval }
    }
}

impl From<DifferenceEstimate> for DifferenceBody {
    fn from(one: DifferenceEstimate) -> Self {
        let DifferenceEstimate { estimate, interval, n, anytime_valid, p_always_valid } = one;
        Self { estimate, interval, n, anytime_valid, p_always_valid }
    }
}

impl From<VariantComparison> for ComparisonBody {
    fn from(one: VariantComparison) -> Self {
        Self {
            variant: one.variant,
            difference: one.difference.map(DifferenceBody::from),
            cuped: one.cuped.map(DifferenceBody::from),
            variance_reduction: one.variance_reduction,
            verdict: one.verdict.word(),
            why: one.why.word(),
        }
    }
}

impl From<GuardrailStatus> for GuardrailBody {
    fn from(one: GuardrailStatus) -> Self {
        let GuardrailStatus { variant, metric, limit, units, mean, bound, crossed } = one;
        Self { variant, metric: metric.word(), limit, units, mean, bound, crossed }
    }
}
