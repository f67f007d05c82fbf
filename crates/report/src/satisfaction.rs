//! How content people are: ok / (ok + not_ok + neutral), with how sure that is.

use event::{Origin, Reaction};
use store::ReactionCounts;

/// The two-sided 95% point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A rate with its count and interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Satisfaction {
    /// The share of ok; `None` when nobody reacted.
    pub rate: Option<f64>,
    /// How many reactions it is made of.
    pub count: u64,
    /// The 95% interval by Wilson; `None` when nobody reacted.
    pub interval: Option<(f64, f64)>,
}

impl Satisfaction {
    /// Of the reactions of one origin.
    pub fn of(counts: &ReactionCounts, origin: Origin) -> Self {
        Self::share(counts.of(origin, Reaction::Ok), counts.of_origin(origin))
    }

    /// Of anything counted: how many of how many.
    pub fn share(ok: u64, count: u64) -> Self {
        if count == 0 {
            return Self { rate: None, count, interval: None };
        }
        let rate = ok as f64 / count as f64;
        Self { rate: Some(rate), count, interval: Some(wilson(rate, count as f64)) }
    }
}

fn wilson(rate: f64, n: f64) -> (f64, f64) {
    let z2 = Z * Z;
    let middle = rate + z2 / (2.0 * n);
    let half = Z * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ok: u64, not_ok: u64, rate: f64, interval: (f64, f64)) {
        let mut counts = ReactionCounts::default();
        counts.add(Origin::User, Reaction::Ok, ok);
        counts.add(Origin::User, Reaction::NotOk, not_ok);
        counts.add(Origin::Machine, Reaction::NotOk, 99);
        let found = Satisfaction::of(&counts, Origin::User);
        assert_eq!((found.rate, found.count), (Some(rate), ok + not_ok));
        let (low, high) = found.interval.unwrap();
        assert!((low - interval.0).abs() < 1e-4 && (high - interval.1).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn the_interval_is_wilsons() {
        check(8, 2, 0.8, (0.4902, 0.9433));
        check(0, 5, 0.0, (0.0, 0.4345));
        check(1, 0, 1.0, (0.2065, 1.0));
    }

    #[test]
    fn without_reactions_there_is_no_rate() {
        let none = Satisfaction::of(&ReactionCounts::default(), Origin::User);
        assert_eq!(none, Satisfaction { rate: None, count: 0, interval: None });
    }
}
