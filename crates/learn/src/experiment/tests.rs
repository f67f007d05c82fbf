//! What an experiment must do, whatever its parts look like.

mod arithmetic;
mod assignment;
mod results;
mod definition;
mod rollout;

use super::*;

fn read(json: &str) -> ExperimentDefinition {
    serde_json::from_str(json).unwrap()
}

fn two(metric: &str) -> ExperimentDefinition {
    read(&format!(
        r#"{{"name":"x","unit":"user","metric":"{metric}",
            "variants":[{{"name":"control"}},{{"name":"treatment"}}]}}"#
    ))
}

/// A unit of one turn.
fn one(value: f64) -> UnitTotals {
    UnitTotals { value, count: 1.0, before: None }
}

/// So many units of a variant, of which the first `good` have a value of 1.
fn put(evidence: &mut Evidence, variant: usize, units: usize, good: usize, shares: &Shares) {
    for unit in 0..units {
        let place = evidence.expose(variant, shares);
        evidence.observe(place, None, Some(one(f64::from(u8::from(unit < good)))));
    }
}

fn errors(evidence: &mut Evidence, variant: usize, units: usize, failed: usize) {
    for unit in 0..units {
        let failed = f64::from(u8::from(unit < failed));
        evidence.observe_guardrail(0, variant, None, Some(one(failed)));
    }
}
