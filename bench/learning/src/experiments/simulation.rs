//! Simulated units, and one run of an experiment over them.

use learn::experiment::{
    ArmDifference, ExperimentDefinition, ExperimentEvidence, ExperimentStatus, ExperimentVerdict,
    TrafficShares, UnitTotals, VerdictReason, adaptive_shares, compute_results,
};
use model::Moments;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Units between two checks.
pub(super) const CHECK_UNITS: usize = 200;

/// Behaviour of a unit of a variant, at a part (0 to 1) of the run.
pub(super) type World = fn(&mut StdRng, usize, f64) -> UnitTotals;

/// Changes of the shares during a run.
#[derive(Clone, Copy)]
pub(super) enum Sharing {
    /// As defined: adaptive or by weight.
    Defined,
    /// These percentages, each for an equal part of the run.
    Steps(&'static [f64]),
}

/// Outcome of one run, checked every [`CHECK_UNITS`] units.
#[derive(Clone, Copy, Default)]
pub(super) struct Outcome {
    /// Units at the first verdict.
    pub(super) decided: Option<usize>,
    /// A plain z-test was below 0.05 at some check.
    pub(super) z_ever: bool,
    /// A plain z-test was below 0.05 at the last check.
    pub(super) z_last: bool,
    /// A sample-ratio mismatch was detected at some check.
    pub(super) mismatch: bool,
    /// Share of the variance explained by pre-exposure data at the end.
    pub(super) reduction: Option<f64>,
}

pub(super) fn definition(json: &str) -> ExperimentDefinition {
    let read: Result<ExperimentDefinition, _> = serde_json::from_str(json);
    match read.map(|definition| definition.validate().map(|()| definition)) {
        Ok(Ok(definition)) => definition,
        Ok(Err(error)) => panic!("{error}"),
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn two(metric: &str) -> String {
    format!(
        r#"{{"name":"x","unit":"user","metric":"{metric}","variants":[{{"name":"a"}},{{"name":"b"}}]}}"#
    )
}

pub(super) fn run(
    definition: &ExperimentDefinition,
    world: World,
    sharing: Sharing,
    units: usize,
    seed: u64,
) -> Outcome {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut evidence = ExperimentEvidence::new(definition);
    let mut shares = TrafficShares::from_definition(definition);
    let mut step = 0;
    let mut outcome = Outcome::default();
    for unit in 0..units {
        if let Sharing::Steps(steps) = sharing {
            let now = unit * steps.len() / units;
            if unit == 0 || now != step {
                shares = TrafficShares::from_percent(definition, steps[now]);
            }
            if now != step {
                evidence.open_stratum();
            }
            step = now;
        }
        let variant = pick(&mut rng, &shares);
        let place = evidence.record_exposure(variant, &shares);
        let totals = world(&mut rng, variant, unit as f64 / units as f64);
        evidence.add_moments(place, &Moments::from_totals(totals.weighted_by(definition.by)));
        if (unit + 1) % CHECK_UNITS == 0 {
            look(definition, &evidence, unit + 1, &mut outcome);
            if definition.adaptive.is_some() {
                shares = adaptive_shares(definition, &evidence);
            }
        }
    }
    outcome
}

fn look(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
    units: usize,
    outcome: &mut Outcome,
) {
    let seen = compute_results(definition, ExperimentStatus::Running, evidence);
    let sides = [ExperimentVerdict::Better, ExperimentVerdict::Worse];
    let decided = seen.comparisons.iter().any(|c| sides.contains(&c.verdict));
    if decided && outcome.decided.is_none() {
        outcome.decided = Some(units);
    }
    outcome.mismatch |= seen.why == VerdictReason::SampleRatioMismatch;
    outcome.reduction = seen.comparisons.first().and_then(|c| c.variance_reduction);
    // A z-test with peeking: all units together, whatever the shares were.
    let (control, treated) = (evidence.total_tally(0), evidence.total_tally(1));
    let pooled = std::iter::once((&control, &treated));
    if let Some((plain, _)) = ArmDifference::compute_both(pooled, definition.metric) {
        outcome.z_last = plain.estimate.abs() > 1.959_964 * plain.variance.sqrt();
        outcome.z_ever |= outcome.z_last;
    }
}

pub(super) fn pick(rng: &mut StdRng, shares: &TrafficShares) -> usize {
    let mut left: f64 = rng.random();
    for (index, share) in shares.as_slice().iter().enumerate() {
        if left < *share {
            return index;
        }
        left -= share;
    }
    0
}

pub(super) fn coin(rng: &mut StdRng, p: f64) -> UnitTotals {
    UnitTotals { value: f64::from(u8::from(rng.random_bool(p))), count: 1.0, before: None }
}

pub(super) fn normal(rng: &mut StdRng) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
