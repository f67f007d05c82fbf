//! Experiment results: means, differences and verdicts.

use super::MIN_UNITS;
use super::confidence_sequence::{ConfidenceSequence, TUNED_FOR_UNITS};
use super::definition::ExperimentDefinition;
use super::difference::{ArmDifference, separate_arm_interval};
use super::evidence::ExperimentEvidence;
use super::guardrail::{GuardrailStatus, evaluate_guardrails};
use super::lifecycle::ExperimentStatus;
use super::sample_ratio::SampleRatioTest;
use super::tally::MeanEstimate;

/// The first variant is the control; each other one has a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentResults {
    pub status: ExperimentStatus,
    /// In the order of the definition.
    pub variants: Vec<VariantResult>,
    pub comparisons: Vec<VariantComparison>,
    pub srm: SampleRatioTest,
    pub guardrails: Vec<GuardrailStatus>,
    /// `Better` when any treatment is better, `Worse` when all are worse.
    pub verdict: ExperimentVerdict,
    pub why: VerdictReason,
    /// The better treatment with the largest gain.
    pub best: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VariantResult {
    pub name: String,
    /// The number of exposed units.
    pub units: u64,
    /// Exposed units with at least one observation.
    pub observed: u64,
    pub mean: Option<f64>,
    /// Confidence interval valid at every look; `None` with too few units.
    pub interval: Option<[f64; 2]>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VariantComparison {
    pub variant: String,
    /// `None` while one of the arms is empty.
    pub difference: Option<DifferenceEstimate>,
    /// CUPED-corrected difference, which decides when present.
    pub cuped: Option<DifferenceEstimate>,
    /// Share of the variance removed by CUPED.
    pub variance_reduction: Option<f64>,
    pub verdict: ExperimentVerdict,
    pub why: VerdictReason,
}

/// Treatment minus control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DifferenceEstimate {
    pub estimate: f64,
    /// Valid at every look and for all comparisons together.
    pub interval: [f64; 2],
    /// True once each arm has [`MIN_UNITS`] units.
    pub anytime_valid: bool,
    /// Smallest alpha at which the interval excludes zero; 1 with too few units.
    pub p_always_valid: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExperimentVerdict {
    Undecided,
    Better,
    /// Worse than the control, or beyond a guardrail.
    Worse,
    /// The data is invalid.
    NoVerdict,
}

impl ExperimentVerdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Undecided => "undecided",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoVerdict => "no_verdict",
        }
    }
}

/// Reason of a verdict, or the condition it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictReason {
    /// Fewer than [`MIN_UNITS`] units in an arm.
    TooFewUnits,
    /// The interval includes zero.
    ZeroInside,
    /// The interval excludes zero.
    ZeroOutside,
    GuardrailCrossed,
    /// The split between variants differs from the configured shares.
    SampleRatioMismatch,
}

impl VerdictReason {
    pub fn word(self) -> &'static str {
        match self {
            Self::TooFewUnits => "too_few_units",
            Self::ZeroInside => "zero_inside",
            Self::ZeroOutside => "zero_outside",
            Self::GuardrailCrossed => "guardrail_crossed",
            Self::SampleRatioMismatch => "sample_ratio_mismatch",
        }
    }
}

pub fn compute_results(
    definition: &ExperimentDefinition,
    status: ExperimentStatus,
    evidence: &ExperimentEvidence,
) -> ExperimentResults {
    let srm = evidence.test_sample_ratio();
    let guardrails = evaluate_guardrails(definition, evidence);
    let comparisons: Vec<VariantComparison> = (1..definition.variants.len())
        .filter_map(|treatment| {
            let mut comparison = compare_variant(definition, evidence, treatment)?;
            let crossed = |g: &GuardrailStatus| g.crossed && g.variant == comparison.variant;
            if !srm.ok {
                let mismatch = VerdictReason::SampleRatioMismatch;
                comparison.set_verdict(ExperimentVerdict::NoVerdict, mismatch);
            } else if guardrails.iter().any(crossed) {
                comparison.set_verdict(ExperimentVerdict::Worse, VerdictReason::GuardrailCrossed);
            }
            Some(comparison)
        })
        .collect();
    let (verdict, why, best) = overall_verdict(definition, &comparisons);
    let variants = (0..definition.variants.len())
        .filter_map(|variant| variant_result(definition, evidence, variant))
        .collect();
    ExperimentResults { status, variants, comparisons, srm, guardrails, verdict, why, best }
}

impl VariantComparison {
    fn set_verdict(&mut self, verdict: ExperimentVerdict, why: VerdictReason) {
        self.verdict = verdict;
        self.why = why;
    }
}

fn variant_result(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
    variant: usize,
) -> Option<VariantResult> {
    let total = evidence.total_tally(variant);
    let sequence = ConfidenceSequence::new(definition.alpha, TUNED_FOR_UNITS);
    let mean = MeanEstimate::from_tally(&total, definition.metric);
    let enough = mean.filter(|_| total.units() >= MIN_UNITS);
    let interval = |mean: MeanEstimate| {
        let reach = mean.standard_error() * sequence.half_width(mean.units);
        [mean.mean - reach, mean.mean + reach]
    };
    Some(VariantResult {
        name: definition.variants.get(variant)?.name.clone(),
        units: evidence.exposed_units().get(variant).copied().unwrap_or(0),
        observed: total.units(),
        mean: total.mean_ratio(),
        interval: enough.map(interval),
    })
}

fn compare_variant(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
    treatment: usize,
) -> Option<VariantComparison> {
    let (difference, cuped, variance_reduction) = if definition.adaptive.is_some() {
        (separate_arm_difference(definition, evidence, treatment), None, None)
    } else {
        stratified_difference(definition, evidence, treatment)
    };
    let (verdict, why) = decide_verdict(definition, cuped.or(difference));
    Some(VariantComparison {
        variant: definition.variants.get(treatment)?.name.clone(),
        difference,
        cuped,
        variance_reduction,
        verdict,
        why,
    })
}

/// Stratified comparison, plain and CUPED-corrected.
fn stratified_difference(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
    treatment: usize,
) -> (Option<DifferenceEstimate>, Option<DifferenceEstimate>, Option<f64>) {
    let pairs = evidence.control_pairs(treatment);
    let Some((plain, cuped)) = ArmDifference::compute_both(pairs, definition.metric) else {
        return (None, None, None);
    };
    let sequence = ConfidenceSequence::new(definition.alpha_per_comparison(), TUNED_FOR_UNITS);
    let show = |compared: ArmDifference| {
        let units = compared.control_units.min(compared.treatment_units);
        let bounds = compared.confidence_interval(&sequence);
        build_difference(definition, compared.estimate, bounds, units)
    };
    let reduced = |cuped: ArmDifference| 1.0 - cuped.variance / plain.variance;
    let reduction = cuped.map(reduced).filter(|part| part.is_finite());
    (Some(show(plain)), cuped.map(show), reduction)
}

/// Comparison with one interval per arm, for adaptive shares.
fn separate_arm_difference(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
    treatment: usize,
) -> Option<DifferenceEstimate> {
    let (control, treated) = (evidence.total_tally(0), evidence.total_tally(treatment));
    let a = MeanEstimate::from_tally(&control, definition.metric)?;
    let b = MeanEstimate::from_tally(&treated, definition.metric)?;
    let bounds = separate_arm_interval(&a, &b, definition.alpha_per_comparison());
    let units = control.units().min(treated.units());
    Some(build_difference(definition, b.mean - a.mean, bounds, units))
}

fn build_difference(
    definition: &ExperimentDefinition,
    estimate: f64,
    (interval, p): ([f64; 2], f64),
    units: u64,
) -> DifferenceEstimate {
    let anytime_valid = units >= MIN_UNITS;
    let p = if anytime_valid { p * definition.comparison_count() as f64 } else { 1.0 };
    DifferenceEstimate { estimate, interval, anytime_valid, p_always_valid: p.min(1.0) }
}

fn decide_verdict(
    definition: &ExperimentDefinition,
    deciding: Option<DifferenceEstimate>,
) -> (ExperimentVerdict, VerdictReason) {
    let Some(deciding) = deciding.filter(|difference| difference.anytime_valid) else {
        return (ExperimentVerdict::Undecided, VerdictReason::TooFewUnits);
    };
    let DifferenceEstimate { estimate, interval: [low, high], .. } = deciding;
    if low <= 0.0 && high >= 0.0 {
        (ExperimentVerdict::Undecided, VerdictReason::ZeroInside)
    } else if definition.metric.gain(estimate) > 0.0 {
        (ExperimentVerdict::Better, VerdictReason::ZeroOutside)
    } else {
        (ExperimentVerdict::Worse, VerdictReason::ZeroOutside)
    }
}

fn overall_verdict(
    definition: &ExperimentDefinition,
    comparisons: &[VariantComparison],
) -> (ExperimentVerdict, VerdictReason, Option<String>) {
    let gain = |c: &VariantComparison| {
        c.cuped.or(c.difference).map_or(f64::NEG_INFINITY, |d| definition.metric.gain(d.estimate))
    };
    let best = comparisons
        .iter()
        .filter(|comparison| comparison.verdict == ExperimentVerdict::Better)
        .max_by(|a, b| gain(a).total_cmp(&gain(b)));
    // Without a better treatment, any undecided one may still turn out better.
    let open = || comparisons.iter().find(|c| c.verdict == ExperimentVerdict::Undecided);
    let deciding = best.or_else(open).or(comparisons.first());
    let name = best.map(|comparison| comparison.variant.clone());
    let undecided = (ExperimentVerdict::Undecided, VerdictReason::TooFewUnits, None);
    deciding.map_or(undecided, |c| (c.verdict, c.why, name))
}
