//! A variant's mean and how sure it is.

use model::Metric;

use super::tally::Tally;

/// A mean over turns or units, with its standard error by unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Sum of values over sum of counts.
    pub mean: f64,
    /// Its variance across units, by the delta method: turns of one unit are not independent.
    pub variance: f64,
    /// Units that have given anything.
    pub units: f64,
}

impl Mean {
    /// `None` without two units.
    ///
    /// Shares (0 to 1) are taken as if two more units, one at 0 and one at 1, had been seen when it
    /// comes to the variance (never the mean). A hundred turns without an error would otherwise have
    /// a variance of zero, and the interval would claim that there can never be one.
    pub fn of(tally: &Tally, metric: Metric) -> Option<Self> {
        let mean = tally.ratio()?;
        let units = tally.units() as f64;
        if units < 2.0 {
            return None;
        }
        let each = tally.count_each();
        let assumed = if metric.is_share() { mean.powi(2) + (1.0 - mean).powi(2) } else { 0.0 };
        let spread = (tally.scatter(mean) + assumed) / (each * each);
        Some(Self { mean, variance: spread / (units - 1.0) / units, units })
    }

    /// The standard error.
    pub fn deviation(&self) -> f64 {
        self.variance.sqrt()
    }
}
