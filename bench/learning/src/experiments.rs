//! Experiments: wrong verdicts, power, assignment, variance reduction, rollouts. Simulated, with
//! fixed seeds; everything goes through the same calls as in earnest.

mod world;
mod wrong;
mod power;
mod assigned;
mod rolled;
mod kept;

/// Prints all tables.
pub(crate) fn measure() {
    assigned::measure();
    wrong::measure();
    power::measure();
    rolled::measure();
}

/// Prints what they cost over a real store.
pub(crate) fn measure_stored() -> anyhow::Result<()> {
    kept::measure()
}

/// Whether a bar was held.
fn held(holds: bool) -> &'static str {
    if holds { "held" } else { "MISSED" }
}
