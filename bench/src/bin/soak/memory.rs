//! Checks that memory is flat.
//!
//! A server keeps some memory per turn (a vector of 256 bytes and its index entry). "Flat" means: in the
//! longest-lived process, after the first third of its life, a linear fit of memory over turns rises by
//! no more than the allowance per turn, or the total rise is below the noise of allocators and caches.

use std::collections::BTreeMap;

/// Allowed memory per turn in bytes. bench/RESULTS.md: about 450 in the index at 10⁶ turns.
const PER_TURN: f64 = 1024.0;
/// Rise in bytes that counts as noise.
const NOISE: f64 = 16e6;

/// Memory over turns, by process.
#[derive(Default)]
pub(crate) struct Samples(BTreeMap<u32, Vec<(f64, f64)>>);

impl Samples {
    /// Adds a sample of the process with this start number.
    pub(crate) fn add(&mut self, process: u32, turns: u64, bytes: u64) {
        self.0.entry(process).or_default().push((turns as f64, bytes as f64));
    }

    /// Prints the result and returns the violations.
    pub(crate) fn judge(&self) -> Vec<String> {
        let peak = self.0.values().flatten().map(|(_, bytes)| *bytes).fold(0.0, f64::max);
        let Some(longest) = self.0.values().max_by_key(|samples| samples.len()) else {
            return vec!["memory was never looked at".into()];
        };
        let settled = &longest[longest.len() / 3..];
        let slope = slope(settled);
        let (first, last) = (settled[0].0, settled[settled.len() - 1].0);
        let rise = slope * (last - first);
        println!(
            "memory           {:8.1} MB at most; in the longest life ({} samples, {:.0} turns after it settled) \
             {:+.0} bytes a turn, {:+.1} MB in all (allowed: {PER_TURN} bytes a turn, or {} MB in all)",
            peak / 1e6,
            settled.len(),
            last - first,
            slope,
            rise / 1e6,
            NOISE / 1e6
        );
        if slope > PER_TURN && rise > NOISE {
            return vec![format!("memory grows by {slope:.0} bytes a turn")];
        }
        Vec::new()
    }
}

/// Slope of the least-squares line through the points.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let across: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let along: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    if across > 0.0 { along / across } else { 0.0 }
}
