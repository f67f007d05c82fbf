//! A mean over seeds with its confidence interval.

use std::fmt;

/// The mean, and half the width of its 95% interval.
#[derive(Clone, Copy)]
pub(crate) struct Mean {
    pub(crate) mean: f64,
    reach: f64,
}

impl Mean {
    pub(crate) fn compute(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (spread / (count - 1.0).max(1.0)).sqrt();
        Self { mean, reach: 1.96 * deviation / count.sqrt() }
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4} ± {:.4}", self.mean, self.reach)
    }
}
