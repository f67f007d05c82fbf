//! What a router believes of its arms, drawn as densities over the reward.

use std::fmt::Write;

use crate::chart::escaped;

/// The drawing's own size.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 160.0;
/// Places at which a density is worked out.
const STEPS: u32 = 120;

/// A belief: its middle, and where it lies with 95% certainty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Belief {
    pub(crate) name: String,
    pub(crate) mean: f64,
    pub(crate) interval: [f64; 2],
}

/// The densities of all of them, on one scale.
pub(crate) fn densities(beliefs: &[Belief]) -> String {
    let curves: Vec<Vec<f64>> = beliefs.iter().map(curve).collect();
    let highest = curves.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let label = "What the router believes each arm’s reward to be";
    let mut svg = format!(
        r#"<svg class="chart-marks" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{}" focusable="false">"#,
        escaped(label)
    );
    for quarter in 0..=4 {
        let x = WIDTH * f64::from(quarter) / 4.0;
        let _ = write!(svg, r#"<path class="grid" d="M{x:.1} 0V{HEIGHT}"/>"#);
    }
    for (place, (belief, curve)) in beliefs.iter().zip(&curves).enumerate() {
        let mut path = String::new();
        for (step, height) in curve.iter().enumerate() {
            let x = WIDTH * step as f64 / f64::from(STEPS);
            let y = HEIGHT - 0.96 * HEIGHT * height / highest;
            let _ = write!(path, "{}{x:.1} {y:.1}", if step == 0 { 'M' } else { 'L' });
        }
        let _ = write!(
            svg,
            r#"<g><title>{}</title><path class="density-fill series-{n}" d="{path}L{WIDTH} {HEIGHT}L0 {HEIGHT}z"/><path class="density series-{n}" d="{path}"/></g>"#,
            escaped(&belief.name),
            n = place % 6
        );
    }
    svg.push_str("</svg>");
    svg
}

/// The density of the beta distribution with this mean and this spread, up to nothing but drawing.
fn curve(belief: &Belief) -> Vec<f64> {
    let mean = belief.mean.clamp(0.001, 0.999);
    let deviation = ((belief.interval[1] - belief.interval[0]) / 3.92).clamp(0.001, 0.49);
    // As many as it was observed, in effect.
    let weight = (mean * (1.0 - mean) / deviation.powi(2) - 1.0).max(0.2);
    let (good, bad) = (mean * weight, (1.0 - mean) * weight);
    let log = |x: f64| (good - 1.0) * x.ln() + (bad - 1.0) * (1.0 - x).ln();
    let places = (0..=STEPS).map(|step| (f64::from(step) / f64::from(STEPS)).clamp(0.002, 0.998));
    let logs: Vec<f64> = places.map(log).collect();
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let heights: Vec<f64> = logs.iter().map(|one| (one - highest).exp()).collect();
    // The same area under each.
    let area = heights.iter().sum::<f64>() / f64::from(STEPS);
    heights.into_iter().map(|height| height / area).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_has_its_top_at_the_mean_and_is_higher_when_surer() {
        let of = |mean: f64, half: f64| {
            curve(&Belief { name: "a".into(), mean, interval: [mean - half, mean + half] })
        };
        let (sure, unsure) = (of(0.7, 0.05), of(0.7, 0.2));
        let top = |curve: &[f64]| {
            curve.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| at).unwrap()
        };
        assert!((top(&sure) as f64 / f64::from(STEPS) - 0.7).abs() < 0.02);
        assert!(sure[top(&sure)] > unsure[top(&unsure)]);
        assert!(of(0.5, 0.5).iter().all(|height| height.is_finite()));
    }
}
