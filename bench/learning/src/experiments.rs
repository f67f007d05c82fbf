//! Experiments: false positives, power, assignment, variance reduction, rollouts. Simulated with fixed
//! seeds, through the same calls as in production.

mod simulation;
mod false_positives;
mod power;
mod assignment;
mod rollouts;
mod storage_cost;

pub(crate) fn measure() {
    assignment::measure();
    false_positives::measure();
    power::measure();
    rollouts::measure();
}

/// Prints the cost over a real store.
pub(crate) fn measure_stored() -> anyhow::Result<()> {
    storage_cost::measure()
}

/// Marks a figure that meets its target.
fn held(holds: bool) -> &'static str {
    if holds { "held" } else { "MISSED" }
}
