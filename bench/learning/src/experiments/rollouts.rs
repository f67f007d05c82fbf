//! Rollouts: time to rollback of harm, false rollbacks, and time to 100%.

use learn::experiment::{
    ExperimentDefinition, ExperimentEvidence, ExperimentStatus, RolloutState, StepReason,
    VerdictReason, compute_results, next_step,
};
use model::Moments;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::held;
use super::power::median;
use super::simulation::{CHECK_UNITS, coin, definition, pick};

const RUNS: u64 = 1_000;

/// Outcome of a rollout.
struct End {
    /// The furthest step.
    percent: f64,
    /// Units in total and in the treatment at the rollback.
    back: Option<(usize, usize)>,
    /// Units at 100%.
    through: Option<usize>,
    /// A verdict on satisfaction was reached at some check.
    verdict: bool,
}

fn rollout(steps: &str) -> ExperimentDefinition {
    definition(&format!(
        r#"{{"name":"x","unit":"user","metric":"satisfaction",
            "variants":[{{"name":"a"}},{{"name":"b"}}],
            "guardrails":[{{"metric":"error_rate","limit":0.05}}],
            "rollout":{{"steps":{steps},"margin":0.05}}}}"#
    ))
}

/// One rollout, checked every 20 units (every 200 for a verdict) until it ends. Satisfaction and error
/// rate are those of the treatment; the control has 0.8 and 0.03.
fn run(
    definition: &ExperimentDefinition,
    satisfied: f64,
    errors: f64,
    units: usize,
    seed: u64,
) -> Option<End> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut evidence = ExperimentEvidence::new(definition);
    let mut state = RolloutState::start(definition)?;
    let mut end = End { percent: state.percent, back: None, through: None, verdict: false };
    let mut treated = 0;
    for unit in 1..=units {
        let shares = state.current_shares(definition);
        let variant = pick(&mut rng, &shares);
        treated += variant;
        let place = evidence.record_exposure(variant, &shares);
        let satisfied = if variant == 0 { 0.8 } else { satisfied };
        let errors = if variant == 0 { 0.03 } else { errors };
        evidence.add_moments(place, &Moments::from_totals(coin(&mut rng, satisfied)));
        evidence.add_guardrail_moments(0, variant, &Moments::from_totals(coin(&mut rng, errors)));
        if unit % 20 != 0 {
            continue;
        }
        if unit % CHECK_UNITS == 0 {
            let seen = compute_results(definition, ExperimentStatus::Running, &evidence);
            end.verdict |= seen.why == VerdictReason::ZeroOutside;
        }
        let Some(taken) = next_step(definition, &state, &evidence) else { continue };
        state = state.apply_step(&taken);
        evidence.open_stratum();
        match taken.reason {
            StepReason::NotWorse { .. } => end.percent = taken.to,
            StepReason::GuardrailCrossed { .. } => end.back = Some((unit, treated)),
        }
        if end.percent >= 100.0 {
            end.through = Some(unit);
        }
        if end.back.is_some() || end.through.is_some() {
            break;
        }
    }
    Some(end)
}

pub(super) fn measure() {
    println!("\nRollouts, {RUNS} runs each: limit of the error rate 0.05, control 0.03\n");
    println!("| what | measured | bar |\n|---|---|---|");
    // Without a next step, a run tests the guardrails only.
    let stays = rollout("[50.0]");
    let one = rollout("[50.0, 100.0]");
    let many = rollout("[1.0, 5.0, 25.0, 50.0, 100.0]");
    let ends = |definition, satisfied, errors, units| -> Vec<End> {
        (0..RUNS).filter_map(|seed| run(definition, satisfied, errors, units, seed)).collect()
    };
    let harmful = ends(&stays, 0.8, 0.09, 24_000);
    let mut treated: Vec<usize> = harmful.iter().filter_map(|end| Some(end.back?.1)).collect();
    let all = treated.len() as f64 / RUNS as f64;
    let half = median(&mut treated);
    let most = treated.get(treated.len() * 95 / 100).copied().unwrap_or(0);
    println!(
        "| errors 3× (0.09): rolled back | {:.1}%, after {half} treated units (median), {most} (95%) | {} |",
        100.0 * all,
        held(all > 0.99)
    );
    let edge = ends(&stays, 0.8, 0.05, 24_000);
    let wrong = edge.iter().filter(|end| end.back.is_some()).count() as f64 / RUNS as f64;
    let word = held(wrong <= 0.05);
    println!(
        "| errors exactly at the limit: rolled back for nothing | {:.1}% | ≤ 5% {word} |",
        100.0 * wrong
    );
    let same = ends(&stays, 0.8, 0.03, 24_000);
    let wrong = same.iter().filter(|end| end.back.is_some()).count() as f64 / RUNS as f64;
    println!("| errors as the control: rolled back for nothing | {:.1}% | |", 100.0 * wrong);
    let good = ends(&many, 0.8, 0.03, 200_000);
    let mut through: Vec<usize> = good.iter().filter_map(|end| end.through).collect();
    let share = through.len() as f64 / RUNS as f64;
    let half = median(&mut through);
    println!(
        "| as good as the control, 1 → 5 → 25 → 50 → 100%, margin 0.05: got to 100% | {:.1}%, after {half} units (median) | |",
        100.0 * share
    );
    let wrong = good.iter().filter(|end| end.verdict).count() as f64 / RUNS as f64;
    let word = held(wrong <= 0.05);
    println!(
        "| the same: a verdict on the way, at any look | {:.1}% | ≤ 5% {word} |",
        100.0 * wrong
    );
    let bad = ends(&one, 0.75, 0.03, 24_000);
    let past = bad.iter().filter(|end| end.percent > 50.0).count() as f64 / RUNS as f64;
    let word = held(past <= 0.05);
    println!(
        "| worse by exactly the margin: ever past the first step | {:.1}% | ≤ 5% {word} |",
        100.0 * past
    );
}
