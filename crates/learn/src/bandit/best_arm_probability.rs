//! The probability that each of several uncertain scores is the highest, by numerical integration.
//!
//! Simpson's rule on panels that follow the narrowest active distribution. No allocation.

use super::MAX_ARMS;

/// A density below e⁻¹⁸ of its peak counts as zero.
const LOG_DENSITY_CUTOFF: f64 = 18.0;
/// Panel width in standard deviations of the narrowest distribution.
const PANEL_WIDTH_DEVIATIONS: f64 = 0.7;
/// Bounds the work for degenerate inputs; realistic inputs need far fewer.
const MAX_PANELS: usize = 4_000;

/// The distribution of one score. Beta distributions are held on the logit scale, where they have
/// one peak and no poles even for tiny counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreDensity {
    shape: DistributionShape,
    low: f64,
    high: f64,
    scale: f64,
    peak: f64,
    height: f64,
}

#[derive(Clone, Copy, Debug)]
enum DistributionShape {
    Beta { good: f64, bad: f64 },
    Normal { mean: f64, precision: f64 },
}

impl ScoreDensity {
    pub(super) const NEVER_WINS: Self = Self {
        shape: DistributionShape::Normal { mean: f64::NEG_INFINITY, precision: 1.0 },
        low: f64::NEG_INFINITY,
        high: f64::NEG_INFINITY,
        scale: 1.0,
        peak: f64::NEG_INFINITY,
        height: 0.0,
    };

    /// Returns `None` unless both counts are finite and above 0.
    pub(super) fn from_beta(good: f64, bad: f64) -> Option<Self> {
        let fits = good > 0.0 && bad > 0.0 && (good + bad).is_finite();
        fits.then_some(())?;
        let scale = ((good + bad) / (good * bad)).sqrt();
        let peak = (good / bad).ln();
        let shape = DistributionShape::Beta { good, bad };
        let mut score = Self { shape, low: peak, high: peak, scale, peak, height: 0.0 };
        score.height = score.log_density(peak);
        score.low = score.find_edge(-scale);
        score.high = score.find_edge(scale);
        Some(score)
    }

    /// Returns `None` unless both are finite and the deviation is above 0.
    pub(crate) fn from_normal(mean: f64, deviation: f64) -> Option<Self> {
        let fits = mean.is_finite() && deviation.is_finite() && deviation > 1e-12;
        let reach = (2.0 * LOG_DENSITY_CUTOFF).sqrt() * deviation;
        let shape = DistributionShape::Normal { mean, precision: 1.0 / deviation };
        let (low, high) = (mean - reach, mean + reach);
        fits.then_some(Self { shape, low, high, scale: deviation, peak: mean, height: 0.0 })
    }

    /// The point where the density falls below the cutoff, found with growing steps.
    fn find_edge(&self, step: f64) -> f64 {
        let (mut at, mut step) = (self.peak, 2.0 * step);
        for _ in 0..60 {
            at += step;
            if self.height - self.log_density(at) > LOG_DENSITY_CUTOFF {
                break;
            }
            step *= 1.25;
        }
        at
    }

    /// Logarithm of the density, up to an additive constant.
    fn log_density(&self, at: f64) -> f64 {
        self.log_density_from(at, softplus(at))
    }

    /// The same with a known `softplus(at)`.
    fn log_density_from(&self, at: f64, soft: f64) -> f64 {
        match self.shape {
            DistributionShape::Beta { good, bad } => good * at - (good + bad) * soft,
            DistributionShape::Normal { mean, precision } => {
                let off = (at - mean) * precision;
                -0.5 * off * off
            }
        }
    }

    /// The density, scaled so that a normal distribution integrates to one.
    fn density_at(&self, at: f64, soft: f64) -> f64 {
        const NORMAL_PEAK_DENSITY: f64 = 0.398_942_280_401_432_7;
        let exponent = self.log_density_from(at, soft);
        (exponent - self.height).exp() * NORMAL_PEAK_DENSITY / self.scale
    }
}

/// ln(1 + eˣ) without overflow on either side.
fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// One grid point: the density of every score and the probability mass below it.
#[derive(Clone, Copy)]
struct GridPoint {
    density: [f64; MAX_ARMS],
    below: [f64; MAX_ARMS],
}

/// All scores must have the same shape. Returns `None` on a numerical fault.
pub(crate) fn best_arm_probabilities(scores: &[ScoreDensity], chances: &mut [f64]) -> Option<()> {
    chances.fill(0.0);
    let count = scores.len();
    if count == 0 || count > MAX_ARMS || chances.len() != count {
        return None;
    }
    // A score that lies entirely below another's lower edge never wins and is skipped.
    let worst = scores.iter().map(|score| score.low).fold(f64::NEG_INFINITY, f64::max);
    let (mut at, mut end) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut active, mut active_count) = ([0usize; MAX_ARMS], 0);
    for (index, score) in scores.iter().enumerate().filter(|(_, score)| score.high > worst) {
        at = at.min(score.low);
        end = end.max(score.high);
        active[active_count] = index;
        active_count += 1;
    }
    if !(at.is_finite() && end.is_finite()) {
        return None;
    }
    let active = &active[..active_count];
    let mut left = GridPoint { density: [0.0; MAX_ARMS], below: [0.0; MAX_ARMS] };
    evaluate_densities(scores, active, at, &mut left);
    let (mut middle, mut right) = (left, left);
    for _ in 0..MAX_PANELS {
        let width = panel_width(scores, active, at).min(end - at);
        if width <= 0.0 {
            break;
        }
        evaluate_densities(scores, active, at + 0.5 * width, &mut middle);
        evaluate_densities(scores, active, at + width, &mut right);
        accumulate_below(active, width, &left, &mut middle, &mut right);
        // Below every leader's lower edge only the mass accumulates.
        if at + width > worst {
            accumulate_wins(active, width, [&left, &middle, &right], chances);
        }
        left = right;
        at += width;
    }
    let sum: f64 = chances.iter().sum();
    if !(sum.is_finite() && sum > 0.0) {
        return None;
    }
    chances.iter_mut().for_each(|chance| *chance /= sum);
    Some(())
}

/// A fraction of the narrowest active deviation, or the distance to the next distribution.
fn panel_width(scores: &[ScoreDensity], active: &[usize], at: f64) -> f64 {
    let mut width = f64::INFINITY;
    for score in active.iter().map(|index| &scores[*index]) {
        if at < score.low {
            width = width.min(score.low - at);
        } else if at < score.high {
            // Skewed tails are long and smooth, so panels may grow with the distance.
            let distance = (at - score.peak).abs() / score.scale;
            width =
                width.min(score.scale * PANEL_WIDTH_DEVIATIONS * f64::max(1.0, 0.25 * distance));
        }
    }
    width
}

fn evaluate_densities(scores: &[ScoreDensity], active: &[usize], at: f64, point: &mut GridPoint) {
    let soft = softplus(at);
    for index in active {
        let score = &scores[*index];
        let inside = at >= score.low && at <= score.high;
        point.density[*index] = if inside { score.density_at(at, soft) } else { 0.0 };
    }
}

/// Advances the mass below to the middle and to the right end of a panel.
fn accumulate_below(
    active: &[usize],
    width: f64,
    left: &GridPoint,
    middle: &mut GridPoint,
    right: &mut GridPoint,
) {
    for index in active {
        let (a, b, c) = (left.density[*index], middle.density[*index], right.density[*index]);
        let half = (width / 24.0 * (5.0 * a + 8.0 * b - c)).max(0.0);
        middle.below[*index] = left.below[*index] + half;
        right.below[*index] = left.below[*index] + width / 6.0 * (a + 4.0 * b + c);
    }
}

/// Adds each score's probability of lying in this panel with all others below it.
fn accumulate_wins(active: &[usize], width: f64, points: [&GridPoint; 3], chances: &mut [f64]) {
    for (point, weight) in points.into_iter().zip([1.0, 4.0, 1.0]) {
        let mut before = [1.0; MAX_ARMS];
        let mut product = 1.0;
        for (place, index) in active.iter().enumerate() {
            before[place] = product;
            product *= point.below[*index];
        }
        let mut after = 1.0;
        for (place, index) in active.iter().enumerate().rev() {
            chances[*index] += weight * width / 6.0 * point.density[*index] * before[place] * after;
            after *= point.below[*index];
        }
    }
}

/// Panels for an interval. Intervals are computed rarely, for reports.
const INTERVAL_PANELS: usize = 400;
/// Probability mass outside the interval on each side.
const INTERVAL_TAIL: f64 = 0.025;

impl ScoreDensity {
    /// The central 95% credible interval of a Beta distribution, between 0 and 1.
    pub(super) fn credible_interval(&self) -> [f64; 2] {
        let width = (self.high - self.low) / INTERVAL_PANELS as f64;
        let weigh = |panel: usize| {
            let at = self.low + (panel as f64 + 0.5) * width;
            (self.log_density(at) - self.height).exp()
        };
        let all: f64 = (0..INTERVAL_PANELS).map(weigh).sum();
        let share_at = |share: f64| {
            let mut left = share * all;
            for panel in 0..INTERVAL_PANELS {
                let here = weigh(panel);
                if left <= here {
                    let logit = self.low + (panel as f64 + left / here) * width;
                    return 1.0 / (1.0 + (-logit).exp());
                }
                left -= here;
            }
            1.0
        };
        [share_at(INTERVAL_TAIL), share_at(1.0 - INTERVAL_TAIL)]
    }
}
