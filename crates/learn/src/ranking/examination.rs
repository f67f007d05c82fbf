//! Relevance counters, and position bias: the probability that a user examines each rank, estimated
//! from the log.
//!
//! An unused item at rank 20 may simply not have been read. Expected uses are therefore based on
//! examinations, not on returns.

use model::{BANDS, Delta, RankBand};
use serde::{Deserialize, Serialize};

/// Weight of the prior in returns; bands with few returns stay close to it.
const PRIOR_RETURNS: f64 = 100.0;
/// Exponent of the prior: between full attention (0) and the 1/rank of web search (1).
const PRIOR_RANK_DECAY: f64 = 0.5;
/// Share of the decline in use attributed to attention; the rest reflects that better items rank
/// higher. Tuned in `bench/relevance`.
const ATTENTION_SHARE: f64 = 0.7;
/// Lower bound, so that one use at a low rank cannot count as hundreds.
const MIN_EXAMINATION: f64 = 0.05;
/// Prior rate of use, and its weight in returns.
const PRIOR_RATE: f64 = 0.3;
const PRIOR_RATE_RETURNS: f64 = 20.0;

/// Returns and uses of a project by rank band. Addition order does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankTotals {
    pub returned: [u64; BANDS],
    pub used: [u64; BANDS],
}

impl RankTotals {
    pub fn add_delta(&mut self, delta: Delta, band: RankBand) {
        let place = band.index();
        self.returned[place] = self.returned[place].saturating_add_signed(delta.returns());
        self.used[place] = self.used[place].saturating_add_signed(delta.used);
    }

    pub fn estimate_examination(&self) -> Examination {
        let rate = |place: usize, prior: f64| {
            let used = self.used[place] as f64 + prior * PRIOR_RETURNS;
            used / (self.returned[place] as f64 + PRIOR_RETURNS)
        };
        let overall = self.overall_rate();
        let prior = |band: RankBand| overall * band.middle().powf(-PRIOR_RANK_DECAY);
        let top = rate(0, overall).max(f64::MIN_POSITIVE);
        let mut chance = [1.0; BANDS];
        let mut above = 1.0;
        for band in RankBand::all().filter(|band| *band != RankBand::UNKNOWN) {
            let fall = (rate(band.index(), prior(band)) / top).powf(ATTENTION_SHARE);
            // Attention never grows with the rank; an increase in the log is noise.
            above = fall.clamp(MIN_EXAMINATION, above);
            chance[band.index()] = above;
        }
        chance[RankBand::UNKNOWN.index()] = self.mean_chance(&chance);
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

    /// Items without a rank get the mean examination probability.
    fn mean_chance(&self, chance: &[f64; BANDS]) -> f64 {
        let known = BANDS - 1;
        let returned: f64 = self.returned[..known].iter().map(|n| *n as f64).sum();
        if returned == 0.0 {
            return RankBand::UNKNOWN.middle().powf(-PRIOR_RANK_DECAY);
        }
        let seen: f64 =
            chance.iter().zip(self.returned).take(known).map(|(c, n)| c * n as f64).sum();
        seen / returned
    }
}

/// Examination probability of each rank band, and the rate of use when examined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Examination {
    chance: [f64; BANDS],
    rate: f64,
}

impl Examination {
    /// Rate of use given examination, over all items (p₀).
    pub fn overall_rate(&self) -> f64 {
        self.rate
    }

    /// Expected examinations of an item, from its returns per band.
    pub(super) fn expected_looks(&self, returned: &[u64; BANDS]) -> f64 {
        self.chance.iter().zip(returned).map(|(chance, n)| chance * *n as f64).sum()
    }
}

/// Exact counters, as the store adds them up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemTally {
    /// Queries whose answer used the item.
    pub used: u64,
    /// Queries whose answer ignored the item.
    pub ignored: u64,
    /// Queries with helpful marks.
    pub positive: u64,
    /// Queries with unhelpful marks.
    pub negative: u64,
    /// Returns per rank band; they sum to `used + ignored`.
    pub returned: [u64; BANDS],
}

impl ItemTally {
    /// Adds a change for a query that returned the item in `band`. Counters saturate at zero.
    pub fn add_delta(&mut self, delta: Delta, band: RankBand) {
        let add = |counter: &mut u64, change: i64| *counter = counter.saturating_add_signed(change);
        add(&mut self.used, delta.used);
        add(&mut self.ignored, delta.ignored);
        add(&mut self.positive, delta.positive);
        add(&mut self.negative, delta.negative);
        let (place, change) = delta.in_band(band);
        add(&mut self.returned[place], change);
    }

    /// Distinct queries that returned the item with a known outcome.
    pub fn total_returns(&self) -> u64 {
        self.used.saturating_add(self.ignored)
    }
}
