//! Tests of experiments as a whole.

mod arithmetic;
mod assignment;
mod results;
mod definition;
mod rollout;

use model::Moments;

use super::*;

fn parse(json: &str) -> ExperimentDefinition {
    serde_json::from_str(json).unwrap()
}

fn two_variants(metric: &str) -> ExperimentDefinition {
    parse(&format!(
        r#"{{"name":"x","unit":"user","metric":"{metric}",
            "variants":[{{"name":"control"}},{{"name":"treatment"}}]}}"#
    ))
}

fn one_turn(value: f64) -> UnitTotals {
    UnitTotals { value, count: 1.0, before: None }
}

/// Adds units of a variant; the first `good` have a value of 1.
fn add(
    evidence: &mut ExperimentEvidence,
    variant: usize,
    units: usize,
    good: usize,
    shares: &TrafficShares,
) {
    for unit in 0..units {
        let place = evidence.record_exposure(variant, shares);
        evidence
            .add_moments(place, &Moments::from_totals(one_turn(f64::from(u8::from(unit < good)))));
    }
}

fn add_errors(evidence: &mut ExperimentEvidence, variant: usize, units: usize, failed: usize) {
    for unit in 0..units {
        let failed = f64::from(u8::from(unit < failed));
        evidence.add_guardrail_moments(0, variant, &Moments::from_totals(one_turn(failed)));
    }
}
