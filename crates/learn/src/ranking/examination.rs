//! How likely a rank is to be looked at, estimated from the log.
//!
//! An item at rank 20 that was not used may simply not have been read. The expected number of uses
//! of an item is therefore not how often it was returned, but the sum of these chances.

use model::{BANDS, Delta, RankBand};
use serde::{Deserialize, Serialize};

/// Returns that the prior weighs as much as: a band with few returns keeps close to it.
const PRIOR_RETURNS: f64 = 100.0;
/// How fast attention falls with the rank before anything is known: rank^-0.5, between a reader who
/// takes everything in and the 1/rank of web search.
const PRIOR_FALL: f64 = 0.5;
/// Part of the fall in the rate of use that is put down to attention; the rest is that better items
/// stand higher. Chosen by `bench/relevance`, see there.
const SHARE_OF_ATTENTION: f64 = 0.7;
/// No rank is ever quite out of sight: an item used there must not count for hundreds.
const LEAST: f64 = 0.05;
/// The rate of use before anything is known, and how many returns that is worth.
const PRIOR_RATE: f64 = 0.3;
const PRIOR_RATE_RETURNS: f64 = 20.0;

/// Returns and uses of a project by band: adds up in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankTotals {
    /// Returns with a known outcome.
    pub returned: [u64; BANDS],
    /// Those that were used.
    pub used: [u64; BANDS],
}

impl RankTotals {
    /// Adds a change of an item that stood in `band`.
    pub fn add(&mut self, delta: Delta, band: RankBand) {
        let place = band.index();
        self.returned[place] = self.returned[place].saturating_add_signed(delta.returns());
        self.used[place] = self.used[place].saturating_add_signed(delta.used);
    }

    /// The chances that follow from what was counted.
    pub fn examination(&self) -> Examination {
        let rate = |place: usize, prior: f64| {
            let used = self.used[place] as f64 + prior * PRIOR_RETURNS;
            used / (self.returned[place] as f64 + PRIOR_RETURNS)
        };
        let overall = self.overall_rate();
        let prior = |band: RankBand| overall * band.middle().powf(-PRIOR_FALL);
        let top = rate(0, overall).max(f64::MIN_POSITIVE);
        let mut chance = [1.0; BANDS];
        let mut above = 1.0;
        for band in RankBand::all().filter(|band| *band != RankBand::UNKNOWN) {
            let fall = (rate(band.index(), prior(band)) / top).powf(SHARE_OF_ATTENTION);
            // Attention does not grow on the way down; where the log says so it is chance.
            above = fall.clamp(LEAST, above);
            chance[band.index()] = above;
        }
        chance[RankBand::UNKNOWN.index()] = self.mean_of(&chance);
        let expected: f64 = chance.iter().zip(self.returned).map(|(c, n)| c * n as f64).sum();
        let used: u64 = self.used.iter().sum();
        let rate =
            (used as f64 + PRIOR_RATE * PRIOR_RATE_RETURNS) / (expected + PRIOR_RATE_RETURNS);
        Examination { chance, rate: rate.clamp(0.01, 1.0) }
    }

    fn overall_rate(&self) -> f64 {
        let (used, returned): (u64, u64) = (self.used.iter().sum(), self.returned.iter().sum());
        (used as f64 + PRIOR_RATE * PRIOR_RATE_RETURNS) / (returned as f64 + PRIOR_RATE_RETURNS)
    }

    /// An item without a rank is looked at as often as the average one.
    fn mean_of(&self, chance: &[f64; BANDS]) -> f64 {
        let known = BANDS - 1;
        let returned: f64 = self.returned[..known].iter().map(|n| *n as f64).sum();
        if returned == 0.0 {
            return RankBand::UNKNOWN.middle().powf(-PRIOR_FALL);
        }
        let seen: f64 =
            chance.iter().zip(self.returned).take(known).map(|(c, n)| c * n as f64).sum();
        seen / returned
    }
}

/// The chance that each rank is looked at, and how often what is looked at is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Examination {
    chance: [f64; BANDS],
    rate: f64,
}

impl Examination {
    /// How often an item is used when it is looked at, over all items (p₀).
    pub fn overall_rate(&self) -> f64 {
        self.rate
    }

    /// Times that an item was looked at, by what is known of its ranks.
    pub(super) fn expected(&self, returned: &[f64; BANDS]) -> f64 {
        self.chance.iter().zip(returned).map(|(chance, n)| chance * n).sum()
    }
}
