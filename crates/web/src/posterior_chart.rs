//! Chart of the posterior reward distributions of a router's arms.

use std::fmt::Write;

use crate::chart::{HEIGHT, WIDTH, escape_html, open_svg, path_data};

const CURVE_STEPS: u32 = 120;

/// Mean and 95% credible interval of an arm's reward.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ArmPosterior {
    pub(crate) name: String,
    pub(crate) mean: f64,
    pub(crate) interval: [f64; 2],
}

/// Draws all densities on one scale.
pub(crate) fn draw_posteriors(arms: &[ArmPosterior]) -> String {
    let curves: Vec<Vec<f64>> = arms.iter().map(beta_density).collect();
    let highest = curves.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let label = "Posterior distribution of each arm’s reward";
    let mut svg = open_svg(label);
    for quarter in 0..=4 {
        let x = WIDTH * f64::from(quarter) / 4.0;
        let _ = write!(svg, r#"<path class="grid" d="M{x:.1} 0V{HEIGHT}"/>"#);
    }
    for (place, (arm, curve)) in arms.iter().zip(&curves).enumerate() {
        let point = |(step, height): (usize, &f64)| {
            let x = WIDTH * step as f64 / f64::from(CURVE_STEPS);
            (x, HEIGHT - 0.96 * HEIGHT * height / highest)
        };
        let path = path_data(curve.iter().enumerate().map(point));
        let _ = write!(
            svg,
            r#"<g><title>{}</title><path class="density-fill series-{n}" d="{path}L{WIDTH} {HEIGHT}L0 {HEIGHT}z"/><path class="density series-{n}" d="{path}"/></g>"#,
            escape_html(&arm.name),
            n = place % 6
        );
    }
    svg.push_str("</svg>");
    svg
}

/// Approximates the posterior by a beta distribution with the same mean and spread.
fn beta_density(arm: &ArmPosterior) -> Vec<f64> {
    let mean = arm.mean.clamp(0.001, 0.999);
    let deviation = ((arm.interval[1] - arm.interval[0]) / 3.92).clamp(0.001, 0.49);
    // The effective number of observations.
    let weight = (mean * (1.0 - mean) / deviation.powi(2) - 1.0).max(0.2);
    let (good, bad) = (mean * weight, (1.0 - mean) * weight);
    let log = |x: f64| (good - 1.0) * x.ln() + (bad - 1.0) * (1.0 - x).ln();
    let places = (0..=CURVE_STEPS)
        .map(|step| (f64::from(step) / f64::from(CURVE_STEPS)).clamp(0.002, 0.998));
    let logs: Vec<f64> = places.map(log).collect();
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let heights: Vec<f64> = logs.iter().map(|one| (one - highest).exp()).collect();
    // Normalizes all curves to the same area.
    let area = heights.iter().sum::<f64>() / f64::from(CURVE_STEPS);
    heights.into_iter().map(|height| height / area).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_peaks_at_the_mean_and_is_higher_with_less_spread() {
        let of = |mean: f64, half: f64| {
            beta_density(&ArmPosterior {
                name: "a".into(),
                mean,
                interval: [mean - half, mean + half],
            })
        };
        let (sure, unsure) = (of(0.7, 0.05), of(0.7, 0.2));
        let top = |curve: &[f64]| {
            curve.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| at).unwrap()
        };
        assert!((top(&sure) as f64 / f64::from(CURVE_STEPS) - 0.7).abs() < 0.02);
        assert!(sure[top(&sure)] > unsure[top(&unsure)]);
        assert!(of(0.5, 0.5).iter().all(|height| height.is_finite()));
    }
}
