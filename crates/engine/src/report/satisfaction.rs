//! Satisfaction: ok / (ok + not_ok + neutral), with its confidence interval.

use model::{Origin, Reaction};
use store::ReactionCounts;

use crate::report::rate::Rate;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Satisfaction {
    /// The share of ok; `None` without reactions.
    pub rate: Option<f64>,
    /// Number of reactions.
    pub count: u64,
    /// The 95% interval; `None` without reactions.
    pub interval: Option<(f64, f64)>,
}

impl Satisfaction {
    /// From the reactions of one origin.
    pub fn from_counts(counts: &ReactionCounts, origin: Origin) -> Self {
        Self::from_share(counts.get(origin, Reaction::Ok), counts.of_origin(origin))
    }

    pub fn from_share(ok: u64, count: u64) -> Self {
        let rate = Rate { numerator: ok, denominator: count };
        Self { rate: rate.value(), count, interval: rate.interval() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn satisfaction_counts_reactions_of_one_origin() {
        let mut counts = ReactionCounts::default();
        counts.add(Origin::User, Reaction::Ok, 8);
        counts.add(Origin::User, Reaction::NotOk, 2);
        counts.add(Origin::Machine, Reaction::NotOk, 99);
        let found = Satisfaction::from_counts(&counts, Origin::User);
        assert_eq!((found.rate, found.count), (Some(0.8), 10));
        assert!(found.interval.is_some());
        let none = Satisfaction::from_counts(&ReactionCounts::default(), Origin::User);
        assert_eq!(none, Satisfaction { rate: None, count: 0, interval: None });
    }
}
