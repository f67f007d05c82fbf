//! How often each of several uncertain scores is the highest: integrated, not sampled.
//!
//! Panels as wide as a part of the narrowest score that lives there, Simpson's rule in each.
//! Nothing here allocates.

use super::MOST_ARMS;

/// Below this part of its peak a density is taken for zero (e⁻¹⁸).
const DROP: f64 = 18.0;
/// Panels per deviation.
const FINENESS: f64 = 0.7;
/// No set of sensible scores needs as many; a set of senseless ones ends here.
const MOST_PANELS: usize = 4_000;

/// The distribution of one score. Beta distributions live on the logit scale, where they have one
/// peak and no poles, however small their counts are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score {
    shape: Shape,
    low: f64,
    high: f64,
    scale: f64,
    peak: f64,
    height: f64,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Beta { good: f64, bad: f64 },
    Normal { mean: f64, precision: f64 },
}

impl Score {
    /// A place to fill; it never wins.
    pub(super) const NONE: Self = Self {
        shape: Shape::Normal { mean: f64::NEG_INFINITY, precision: 1.0 },
        low: f64::NEG_INFINITY,
        high: f64::NEG_INFINITY,
        scale: 1.0,
        peak: f64::NEG_INFINITY,
        height: 0.0,
    };

    /// `None` unless both counts are above 0 and finite.
    pub(super) fn beta(good: f64, bad: f64) -> Option<Self> {
        let fits = good > 0.0 && bad > 0.0 && (good + bad).is_finite();
        fits.then_some(())?;
        let scale = ((good + bad) / (good * bad)).sqrt();
        let peak = (good / bad).ln();
        let shape = Shape::Beta { good, bad };
        let mut score = Self { shape, low: peak, high: peak, scale, peak, height: 0.0 };
        score.height = score.exponent(peak);
        score.low = score.edge(-scale);
        score.high = score.edge(scale);
        Some(score)
    }

    /// `None` unless both are finite and the deviation is above 0.
    pub(crate) fn normal(mean: f64, deviation: f64) -> Option<Self> {
        let fits = mean.is_finite() && deviation.is_finite() && deviation > 1e-12;
        let reach = (2.0 * DROP).sqrt() * deviation;
        let shape = Shape::Normal { mean, precision: 1.0 / deviation };
        let (low, high) = (mean - reach, mean + reach);
        fits.then_some(Self { shape, low, high, scale: deviation, peak: mean, height: 0.0 })
    }

    /// Where the density has all but vanished. Near the peak it falls like a bell, farther out
    /// like an exponential, so steps that grow get there soon.
    fn edge(&self, step: f64) -> f64 {
        let (mut at, mut step) = (self.peak, 2.0 * step);
        for _ in 0..60 {
            at += step;
            if self.height - self.exponent(at) > DROP {
                break;
            }
            step *= 1.25;
        }
        at
    }

    /// The density's logarithm, but for a constant.
    fn exponent(&self, at: f64) -> f64 {
        match self.shape {
            Shape::Beta { good, bad } => {
                // ln(1 + eˣ) without overflow on either side.
                let soft = if at > 0.0 { at + (-at).exp().ln_1p() } else { at.exp().ln_1p() };
                good * at - (good + bad) * soft
            }
            Shape::Normal { mean, precision } => {
                let off = (at - mean) * precision;
                -0.5 * off * off
            }
        }
    }

    /// One at the peak of a bell.
    fn density(&self, at: f64, soft: f64) -> f64 {
        let exponent = match self.shape {
            Shape::Beta { good, bad } => good * at - (good + bad) * soft,
            Shape::Normal { .. } => self.exponent(at),
        };
        const BELL: f64 = 0.398_942_280_401_432_7;
        (exponent - self.height).exp() * BELL / self.scale
    }
}

/// One point of the grid: every score's density there, and the share of it that lies below.
#[derive(Clone, Copy)]
struct Point {
    density: [f64; MOST_ARMS],
    below: [f64; MOST_ARMS],
}

/// The probability of each score to be the highest. All of one kind; `None` when a number is out
/// of all bounds.
pub(crate) fn likeliest(scores: &[Score], chances: &mut [f64]) -> Option<()> {
    chances.fill(0.0);
    let count = scores.len();
    if count == 0 || count > MOST_ARMS || chances.len() != count {
        return None;
    }
    // A score whose best is below another's worst never wins, and need not be integrated.
    let worst = scores.iter().map(|score| score.low).fold(f64::NEG_INFINITY, f64::max);
    let mut at = f64::INFINITY;
    let mut end = f64::NEG_INFINITY;
    for score in scores.iter().filter(|score| score.high > worst) {
        at = at.min(score.low);
        end = end.max(score.high);
    }
    if !(at.is_finite() && end.is_finite()) {
        return None;
    }
    let mut alive = [0usize; MOST_ARMS];
    let mut living = 0;
    for (index, _) in scores.iter().enumerate().filter(|(_, score)| score.high > worst) {
        alive[living] = index;
        living += 1;
    }
    let alive = &alive[..living];
    let mut left = Point { density: [0.0; MOST_ARMS], below: [0.0; MOST_ARMS] };
    densities(scores, alive, at, &mut left);
    let (mut middle, mut right) = (left, left);
    for _ in 0..MOST_PANELS {
        let width = width_at(scores, alive, at).min(end - at);
        if width <= 0.0 {
            break;
        }
        densities(scores, alive, at + 0.5 * width, &mut middle);
        densities(scores, alive, at + width, &mut right);
        accumulate(alive, width, &left, &mut middle, &mut right);
        // Far below the best arm's worst nothing can be won, only accumulated.
        if at + width > worst {
            win(alive, width, [&left, &middle, &right], chances);
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

/// A part of the deviation of the narrowest score that lives here, or the way to the next one.
fn width_at(scores: &[Score], alive: &[usize], at: f64) -> f64 {
    let mut width = f64::INFINITY;
    for score in alive.iter().map(|index| &scores[*index]) {
        if at < score.low {
            width = width.min(score.low - at);
        } else if at < score.high {
            // Tails of a skewed one are long and smooth: the steps may grow with the distance.
            let distance = (at - score.peak).abs() / score.scale;
            width = width.min(score.scale * FINENESS * f64::max(1.0, 0.25 * distance));
        }
    }
    width
}

fn densities(scores: &[Score], alive: &[usize], at: f64, point: &mut Point) {
    let soft = if at > 0.0 { at + (-at).exp().ln_1p() } else { at.exp().ln_1p() };
    for index in alive {
        let score = &scores[*index];
        let inside = at >= score.low && at <= score.high;
        point.density[*index] = if inside { score.density(at, soft) } else { 0.0 };
    }
}

/// Carries the shares below forward: to the middle and to the right end of a panel.
fn accumulate(alive: &[usize], width: f64, left: &Point, middle: &mut Point, right: &mut Point) {
    for index in alive {
        let (a, b, c) = (left.density[*index], middle.density[*index], right.density[*index]);
        let half = (width / 24.0 * (5.0 * a + 8.0 * b - c)).max(0.0);
        middle.below[*index] = left.below[*index] + half;
        right.below[*index] = left.below[*index] + width / 6.0 * (a + 4.0 * b + c);
    }
}

/// Adds, for every score, how likely it is in this panel with all others below it.
fn win(alive: &[usize], width: f64, points: [&Point; 3], chances: &mut [f64]) {
    for (point, weight) in points.into_iter().zip([1.0, 4.0, 1.0]) {
        let mut before = [1.0; MOST_ARMS];
        let mut product = 1.0;
        for (place, index) in alive.iter().enumerate() {
            before[place] = product;
            product *= point.below[*index];
        }
        let mut after = 1.0;
        for (place, index) in alive.iter().enumerate().rev() {
            chances[*index] += weight * width / 6.0 * point.density[*index] * before[place] * after;
            after *= point.below[*index];
        }
    }
}

/// Panels for an interval: it is shown to people, and made seldom.
const SHOWN: usize = 400;
/// What lies outside of an interval on each side.
const OUTSIDE: f64 = 0.025;

impl Score {
    /// Where 95% of a Beta distribution lie, from 0 to 1.
    pub(super) fn interval(&self) -> [f64; 2] {
        let width = (self.high - self.low) / SHOWN as f64;
        let weigh = |panel: usize| {
            let at = self.low + (panel as f64 + 0.5) * width;
            (self.exponent(at) - self.height).exp()
        };
        let all: f64 = (0..SHOWN).map(weigh).sum();
        let share_at = |share: f64| {
            let mut left = share * all;
            for panel in 0..SHOWN {
                let here = weigh(panel);
                if left <= here {
                    let logit = self.low + (panel as f64 + left / here) * width;
                    return 1.0 / (1.0 + (-logit).exp());
                }
                left -= here;
            }
            1.0
        };
        [share_at(OUTSIDE), share_at(1.0 - OUTSIDE)]
    }
}
