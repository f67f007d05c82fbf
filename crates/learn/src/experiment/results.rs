//! Experiment results: means, differences and verdicts.

use super::MIN_UNITS;
use super::definition::ExperimentDefinition;
use super::difference::{ArmDifference, separate_arm_interval};
use super::evidence::{ExperimentEvidence, SampleRatioTest};
use super::guardrail::{GuardrailStatus, evaluate_guardrails};
use super::lifecycle::ExperimentStatus;
use super::tally::MeanEstimate;
use crate::confidence_sequence::{ConfidenceSequence, TUNED_FOR_UNITS};

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
    /// N of the confidence sequence; `None` with one interval per arm.
    pub n: Option<f64>,
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
    ZeroInside,
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
    let analysis = Analysis { definition, evidence };
    let srm = evidence.test_sample_ratio();
    let guardrails = evaluate_guardrails(definition, evidence);
    let comparisons: Vec<VariantComparison> = (1..definition.variants.len())
        .filter_map(|treatment| {
            let comparison = analysis.compare_variant(treatment)?;
            let crossed = |g: &GuardrailStatus| g.crossed && g.variant == comparison.variant;
            let (verdict, why) = if !srm.ok {
                (ExperimentVerdict::NoVerdict, VerdictReason::SampleRatioMismatch)
            } else if guardrails.iter().any(crossed) {
                (ExperimentVerdict::Worse, VerdictReason::GuardrailCrossed)
            } else {
                (comparison.verdict, comparison.why)
            };
            Some(VariantComparison { verdict, why, ..comparison })
        })
        .collect();
    let (verdict, why, best) = overall_verdict(definition, &comparisons);
    let variants = (0..definition.variants.len())
        .filter_map(|variant| analysis.summarise_variant(variant))
        .collect();
    ExperimentResults { status, variants, comparisons, srm, guardrails, verdict, why, best }
}

struct Analysis<'a> {
    definition: &'a ExperimentDefinition,
    evidence: &'a ExperimentEvidence,
}

impl Analysis<'_> {
    fn summarise_variant(&self, variant: usize) -> Option<VariantResult> {
        let total = self.evidence.total_tally(variant);
        let sequence = ConfidenceSequence::new(self.definition.alpha, TUNED_FOR_UNITS);
        let mean = MeanEstimate::from_tally(&total, self.definition.metric);
        let interval = |mean: MeanEstimate| {
            let reach = mean.standard_error() * sequence.half_width(mean.units);
            [mean.mean - reach, mean.mean + reach]
        };
        Some(VariantResult {
            name: self.definition.variants.get(variant)?.name.clone(),
            units: self.evidence.exposed_units().get(variant).copied().unwrap_or(0),
            observed: total.units(),
            mean: total.mean_ratio(),
            interval: mean.filter(|_| total.units() >= MIN_UNITS).map(interval),
        })
    }

    fn compare_variant(&self, treatment: usize) -> Option<VariantComparison> {
        let (difference, cuped, variance_reduction) = if self.definition.adaptive.is_some() {
            (self.separate_arm_difference(treatment), None, None)
        } else {
            self.stratified_difference(treatment)
        };
        let (verdict, why) = decide_verdict(self.definition, cuped.or(difference));
        let variant = self.definition.variants.get(treatment)?.name.clone();
        Some(VariantComparison { variant, difference, cuped, variance_reduction, verdict, why })
    }

    /// Stratified comparison, plain and CUPED-corrected, and the variance reduction.
    fn stratified_difference(
        &self,
        treatment: usize,
    ) -> (Option<DifferenceEstimate>, Option<DifferenceEstimate>, Option<f64>) {
        let pairs = self.evidence.control_pairs(treatment);
        let Some((plain, cuped)) = ArmDifference::compute_both(pairs, self.definition.metric)
        else {
            return (None, None, None);
        };
        let alpha = self.definition.alpha_per_comparison();
        let sequence = ConfidenceSequence::new(alpha, TUNED_FOR_UNITS);
        let show = |compared: ArmDifference| {
            let units = compared.control_units.min(compared.treatment_units);
            let bounds = compared.confidence_interval(&sequence);
            let n = Some(compared.clock);
            DifferenceEstimate { n, ..self.build_difference(compared.estimate, bounds, units) }
        };
        let reduced = |cuped: ArmDifference| 1.0 - cuped.variance / plain.variance;
        let reduction = cuped.map(reduced).filter(|part| part.is_finite());
        (Some(show(plain)), cuped.map(show), reduction)
    }

    /// Comparison with one interval per arm, for adaptive shares.
    fn separate_arm_difference(&self, treatment: usize) -> Option<DifferenceEstimate> {
        let arms = [0, treatment].map(|variant| self.evidence.total_tally(variant));
        let [a, b] = arms.map(|arm| MeanEstimate::from_tally(&arm, self.definition.metric));
        let (a, b) = a.zip(b)?;
        let bounds = separate_arm_interval(&a, &b, self.definition.alpha_per_comparison());
        let units = arms[0].units().min(arms[1].units());
        Some(self.build_difference(b.mean - a.mean, bounds, units))
    }

    fn build_difference(
        &self,
        estimate: f64,
        (interval, p): ([f64; 2], f64),
        units: u64,
    ) -> DifferenceEstimate {
        let anytime_valid = units >= MIN_UNITS;
        let p = if anytime_valid { p * self.definition.comparison_count() as f64 } else { 1.0 };
        let p_always_valid = p.min(1.0);
        DifferenceEstimate { estimate, interval, n: None, anytime_valid, p_always_valid }
    }
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
