//! What an experiment says so far.

use super::LEAST_UNITS;
use super::definition::ExperimentDefinition;
use super::difference::{Compared, arms_apart};
use super::evidence::Evidence;
use super::guardrail::{GuardrailStanding, guardrail_standings};
use super::lifecycle::Status;
use super::mean::Mean;
use super::confidence_sequence::{Sequence, TUNED_FOR};
use super::sample_ratio::SampleRatio;

/// All of it. The first variant is the control; there is one comparison for each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Where the experiment stands.
    pub status: Status,
    /// In the order of the definition.
    pub variants: Vec<VariantResult>,
    /// Each treatment against the control.
    pub comparisons: Vec<Comparison>,
    /// Whether the variants got their parts of the units.
    pub srm: SampleRatio,
    /// Every guardrail of every treatment.
    pub guardrails: Vec<GuardrailStanding>,
    /// `Better` when any treatment is, `Worse` when all are.
    pub verdict: Verdict,
    /// What the verdict rests on, or what it waits for.
    pub why: Why,
    /// The treatment that gains most, of those that are better.
    pub best: Option<String>,
}

/// One variant.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantResult {
    /// Its name.
    pub name: String,
    /// Units that were exposed to it.
    pub units: u64,
    /// Those of them that have given anything.
    pub observed: u64,
    /// The metric's mean; `None` without units.
    pub mean: Option<f64>,
    /// Where the mean lies, at any look; `None` with too few units.
    pub interval: Option<[f64; 2]>,
}

/// One treatment against the control.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The treatment.
    pub variant: String,
    /// As measured; `None` while one of the arms is empty.
    pub difference: Option<Difference>,
    /// Corrected by the time before exposure; `None` where too few units have one. Decides when it
    /// is there.
    pub cuped: Option<Difference>,
    /// Which part of the variance the correction took away.
    pub variance_reduction: Option<f64>,
    /// About this treatment.
    pub verdict: Verdict,
    /// What the verdict rests on, or what it waits for.
    pub why: Why,
}

/// Treatment minus control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference.
    pub estimate: f64,
    /// Where it lies, at any look and for all comparisons together.
    pub interval: [f64; 2],
    /// Whether the interval may be believed at every look: not before each arm has
    /// [`LEAST_UNITS`].
    pub anytime_valid: bool,
    /// The smallest error allowed at which the interval would exclude zero; 1 with too few units.
    pub p_always_valid: f64,
}

/// What can be concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Undecided,
    /// The treatment is better than the control.
    Better,
    /// The treatment is worse than the control, or broke a guardrail.
    Worse,
    /// The numbers cannot be believed.
    NoVerdict,
}

impl Verdict {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Undecided => "undecided",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoVerdict => "no_verdict",
        }
    }
}

/// What a verdict rests on, or what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Fewer than [`LEAST_UNITS`] in an arm.
    TooFewUnits,
    /// No difference is still possible.
    ZeroInside,
    /// No difference is excluded.
    ZeroOutside,
    /// A guardrail's bound is beyond its limit.
    GuardrailCrossed,
    /// The variants did not get their parts of the units.
    SampleRatioMismatch,
}

impl Why {
    /// Its word.
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

/// Puts together what the evidence says.
pub fn results(definition: &ExperimentDefinition, status: Status, evidence: &Evidence) -> Results {
    let srm = evidence.sample_ratio();
    let guardrails = guardrail_standings(definition, evidence);
    let comparisons: Vec<Comparison> = (1..definition.variants.len())
        .filter_map(|treatment| {
            let mut comparison = compare(definition, evidence, treatment)?;
            let crossed = |g: &GuardrailStanding| g.crossed && g.variant == comparison.variant;
            if !srm.ok {
                comparison.conclude(Verdict::NoVerdict, Why::SampleRatioMismatch);
            } else if guardrails.iter().any(crossed) {
                comparison.conclude(Verdict::Worse, Why::GuardrailCrossed);
            }
            Some(comparison)
        })
        .collect();
    let (verdict, why, best) = overall(definition, &comparisons);
    let variants = (0..definition.variants.len())
        .filter_map(|variant| variant_result(definition, evidence, variant))
        .collect();
    Results { status, variants, comparisons, srm, guardrails, verdict, why, best }
}

impl Comparison {
    fn conclude(&mut self, verdict: Verdict, why: Why) {
        self.verdict = verdict;
        self.why = why;
    }
}

fn variant_result(
    definition: &ExperimentDefinition,
    evidence: &Evidence,
    variant: usize,
) -> Option<VariantResult> {
    let total = evidence.total(variant);
    let sequence = Sequence::new(definition.alpha, TUNED_FOR);
    let enough = Mean::of(&total, definition.metric).filter(|_| total.units() >= LEAST_UNITS);
    let around = |mean: Mean| {
        let reach = mean.deviation() * sequence.reach(mean.units);
        [mean.mean - reach, mean.mean + reach]
    };
    Some(VariantResult {
        name: definition.variants.get(variant)?.name.clone(),
        units: evidence.exposed().get(variant).copied().unwrap_or(0),
        observed: total.units(),
        mean: total.ratio(),
        interval: enough.map(around),
    })
}

fn compare(
    definition: &ExperimentDefinition,
    evidence: &Evidence,
    treatment: usize,
) -> Option<Comparison> {
    let (difference, cuped, variance_reduction) = if definition.adaptive.is_some() {
        (apart(definition, evidence, treatment), None, None)
    } else {
        side_by_side(definition, evidence, treatment)
    };
    let (verdict, why) = judge(definition, cuped.or(difference));
    Some(Comparison {
        variant: definition.variants.get(treatment)?.name.clone(),
        difference,
        cuped,
        variance_reduction,
        verdict,
        why,
    })
}

/// By strata, plain and corrected.
fn side_by_side(
    definition: &ExperimentDefinition,
    evidence: &Evidence,
    treatment: usize,
) -> (Option<Difference>, Option<Difference>, Option<f64>) {
    let Some((plain, cuped)) = Compared::both(evidence.pairs(treatment), definition.metric) else {
        return (None, None, None);
    };
    let sequence = Sequence::new(definition.alpha_each(), TUNED_FOR);
    let show = |compared: Compared| {
        let units = compared.control_units.min(compared.treatment_units);
        shown(definition, compared.estimate, compared.interval(&sequence), units)
    };
    let reduced = |cuped: Compared| 1.0 - cuped.variance / plain.variance;
    let reduction = cuped.map(reduced).filter(|part| part.is_finite());
    (Some(show(plain)), cuped.map(show), reduction)
}

/// Arm by arm, where shares followed the outcomes.
fn apart(
    definition: &ExperimentDefinition,
    evidence: &Evidence,
    treatment: usize,
) -> Option<Difference> {
    let (control, treated) = (evidence.total(0), evidence.total(treatment));
    let (a, b) = (Mean::of(&control, definition.metric)?, Mean::of(&treated, definition.metric)?);
    let bounds = arms_apart(&a, &b, definition.alpha_each());
    Some(shown(definition, b.mean - a.mean, bounds, control.units().min(treated.units())))
}

fn shown(
    definition: &ExperimentDefinition,
    estimate: f64,
    (interval, p): ([f64; 2], f64),
    units: u64,
) -> Difference {
    let anytime_valid = units >= LEAST_UNITS;
    let p = if anytime_valid { p * definition.comparisons() as f64 } else { 1.0 };
    Difference { estimate, interval, anytime_valid, p_always_valid: p.min(1.0) }
}

fn judge(definition: &ExperimentDefinition, deciding: Option<Difference>) -> (Verdict, Why) {
    let Some(deciding) = deciding.filter(|difference| difference.anytime_valid) else {
        return (Verdict::Undecided, Why::TooFewUnits);
    };
    let Difference { estimate, interval: [low, high], .. } = deciding;
    if low <= 0.0 && high >= 0.0 {
        (Verdict::Undecided, Why::ZeroInside)
    } else if definition.metric.gain(estimate) > 0.0 {
        (Verdict::Better, Why::ZeroOutside)
    } else {
        (Verdict::Worse, Why::ZeroOutside)
    }
}

fn overall(
    definition: &ExperimentDefinition,
    comparisons: &[Comparison],
) -> (Verdict, Why, Option<String>) {
    let gain = |c: &Comparison| {
        c.cuped.or(c.difference).map_or(f64::NEG_INFINITY, |d| definition.metric.gain(d.estimate))
    };
    let best = comparisons
        .iter()
        .filter(|comparison| comparison.verdict == Verdict::Better)
        .max_by(|a, b| gain(a).total_cmp(&gain(b)));
    // Without a better one: undecided as long as any is, for it may still turn out better.
    let open = || comparisons.iter().find(|c| c.verdict == Verdict::Undecided);
    let deciding = best.or_else(open).or(comparisons.first());
    let name = best.map(|comparison| comparison.variant.clone());
    deciding.map_or((Verdict::Undecided, Why::TooFewUnits, None), |c| (c.verdict, c.why, name))
}
