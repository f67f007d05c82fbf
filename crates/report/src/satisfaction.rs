//! How content people are: ok / (ok + not_ok + neutral), with how sure that is.

use model::{Origin, Reaction};
use store::ReactionCounts;

use crate::rate::Rate;

/// A rate with its count and interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Satisfaction {
    /// The share of ok; `None` when nobody reacted.
    pub rate: Option<f64>,
    /// How many reactions it is made of.
    pub count: u64,
    /// The 95% interval; `None` when nobody reacted.
    pub interval: Option<(f64, f64)>,
}

impl Satisfaction {
    /// Of the reactions of one origin.
    pub fn of(counts: &ReactionCounts, origin: Origin) -> Self {
        Self::share(counts.of(origin, Reaction::Ok), counts.of_origin(origin))
    }

    /// Of anything counted: how many of how many.
    pub fn share(ok: u64, count: u64) -> Self {
        let rate = Rate { numerator: ok, denominator: count };
        Self { rate: rate.value(), count, interval: rate.interval() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_reactions_of_one_origin_count() {
        let mut counts = ReactionCounts::default();
        counts.add(Origin::User, Reaction::Ok, 8);
        counts.add(Origin::User, Reaction::NotOk, 2);
        counts.add(Origin::Machine, Reaction::NotOk, 99);
        let found = Satisfaction::of(&counts, Origin::User);
        assert_eq!((found.rate, found.count), (Some(0.8), 10));
        assert!(found.interval.is_some());
        let none = Satisfaction::of(&ReactionCounts::default(), Origin::User);
        assert_eq!(none, Satisfaction { rate: None, count: 0, interval: None });
    }
}
