//! A reward that is linear in the features: ridge regression, kept up to date one turn at a time.
//!
//! `gram` and `moment` are plain sums over turns. The inverse follows them by Sherman–Morrison and
//! is made again from `gram` after a fixed number of updates, so errors cannot pile up.

use super::MOST_FEATURES;
use super::matrix::{Matrix, dot, padded};

/// How strongly the features' coefficients are held at zero.
const RIDGE: f64 = 3.0;
/// The same for the constant.
const RIDGE_CONSTANT: f64 = 1.0;
/// Updates after which the inverse is made again.
const REFACTOR: u32 = 512;
/// The same while things fade: fading takes the ridge along, and this brings it back.
const REFACTOR_FADING: u32 = 64;
/// Features beyond this are a mistake.
const MOST_FEATURE: f64 = 1e6;

/// Features with a constant one behind them, padded.
pub(crate) struct Point {
    values: [f64; padded(MOST_FEATURES + 1)],
    width: usize,
}

impl Point {
    /// `None` for a wrong number of features, and for one that is not a sensible number.
    pub(crate) fn new(features: &[f64], expected: usize) -> Option<Self> {
        let sensible = |feature: &f64| feature.abs() <= MOST_FEATURE;
        let fits = features.len() == expected
            && expected <= MOST_FEATURES
            && features.iter().all(sensible);
        fits.then(|| {
            let mut values = [0.0; padded(MOST_FEATURES + 1)];
            values[..expected].copy_from_slice(features);
            values[expected] = 1.0;
            Self { values, width: padded(expected + 1) }
        })
    }

    fn values(&self) -> &[f64] {
        &self.values[..self.width]
    }
}

/// One arm's regression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Linear {
    /// Which life of the arm's regression this is.
    pub(super) born: u32,
    pub(super) gram: Matrix,
    pub(super) moment: Vec<f64>,
    pub(super) inverse: Matrix,
    pub(super) theta: Vec<f64>,
    pub(super) updates: u32,
    pub(super) broken: bool,
}

/// What a regression says of one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Guess {
    /// The expected reward.
    pub(crate) mean: f64,
    /// How uncertain it is, for observations of weight one and deviation one.
    pub(crate) deviation: f64,
}

impl Linear {
    pub(crate) fn new(features: usize, born: u32) -> Self {
        let size = features + 1;
        let gram = Matrix::zero(size);
        let inverse = gram.inverse(RIDGE, RIDGE_CONSTANT);
        let broken = inverse.is_none();
        let inverse = inverse.unwrap_or_else(|| Matrix::zero(size));
        let zeros = vec![0.0; padded(size)];
        Self { born, gram, moment: zeros.clone(), inverse, theta: zeros, updates: 0, broken }
    }

    pub(crate) fn features(&self) -> usize {
        self.gram.size() - 1
    }

    /// `None` when the numbers went wrong; the caller falls back to the arm's mean.
    pub(crate) fn guess(&self, point: &Point, prior: f64) -> Option<Guess> {
        let fits = !self.broken && point.width == self.theta.len();
        fits.then_some(())?;
        let mean = prior + dot(&self.theta, point.values());
        let variance = self.inverse.square(point.values());
        let sound = mean.is_finite() && variance.is_finite() && variance > 0.0;
        sound.then(|| Guess { mean, deviation: variance.sqrt() })
    }

    /// Changes the sums by one turn: its weight, and its weighted reward. `prior` is the reward
    /// that the coefficients start from. Returns whether the numbers are sound.
    pub(crate) fn update(&mut self, point: &Point, weight: f64, reward: f64, prior: f64) -> bool {
        let x = point.values();
        if x.len() != self.theta.len() {
            return false;
        }
        if weight != 0.0 {
            self.gram.add_outer(weight, x);
            self.follow(x, weight);
        }
        for (moment, x) in self.moment.iter_mut().zip(x) {
            *moment += reward * x;
        }
        self.solve(prior);
        !self.broken
    }

    /// Lets everything fade to a part of itself. `solve` or `update` must follow.
    pub(crate) fn fade(&mut self, left: f64) {
        if left >= 1.0 {
            return;
        }
        self.gram.scale(left);
        self.moment.iter_mut().for_each(|moment| *moment *= left);
        self.updates += REFACTOR / REFACTOR_FADING;
        if left > 0.9 && self.updates < REFACTOR {
            self.inverse.scale(1.0 / left);
        } else {
            self.refactor();
        }
    }

    /// The inverse after `gram += weight · x · xᵀ`.
    fn follow(&mut self, x: &[f64], weight: f64) {
        self.updates += 1;
        let mut turned = [0.0; padded(MOST_FEATURES + 1)];
        let turned = &mut turned[..x.len()];
        self.inverse.apply(x, turned);
        let denominator = 1.0 + weight * dot(turned, x);
        // Taking something out brings this near zero when hardly anything else is in.
        let shaky = !(denominator > 1e-3 && denominator.is_finite());
        if shaky || self.broken || self.updates >= REFACTOR {
            self.refactor();
        } else {
            self.inverse.add_outer(-weight / denominator, turned);
        }
    }

    fn refactor(&mut self) {
        self.updates = 0;
        match self.gram.inverse(RIDGE, RIDGE_CONSTANT) {
            Some(inverse) => {
                self.inverse = inverse;
                self.broken = false;
            }
            None => self.broken = true,
        }
    }

    /// The coefficients: what the rewards are above or below the prior. The constant's column of
    /// `gram` is the sum of all points, so a changed prior needs no other memory.
    pub(crate) fn solve(&mut self, prior: f64) {
        let size = self.gram.size();
        let mut above = [0.0; padded(MOST_FEATURES + 1)];
        let above = &mut above[..self.moment.len()];
        for (index, above) in above.iter_mut().enumerate().take(size) {
            *above = self.moment[index] - prior * self.gram.at(index, size - 1);
        }
        self.inverse.apply(above, &mut self.theta);
        self.broken |= !self.theta.iter().all(|theta| theta.is_finite());
    }
}
