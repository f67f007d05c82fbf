//! Ranks in bands: counters by band let the chance of being looked at be learnt later and applied to
//! everything counted before.

use serde::{Deserialize, Serialize};

/// How many bands there are, with the one for items whose rank nobody told.
pub const BANDS: usize = 12;

/// The last rank of each band but the two at the end.
const LAST: [u32; 10] = [1, 2, 3, 4, 5, 7, 10, 15, 20, 50];

/// Ranks that are examined about as often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RankBand(u8);

impl RankBand {
    /// The band of an index, as `index` gave it.
    pub fn at(index: u8) -> Self {
        Self(index.min(BANDS as u8 - 1))
    }

    /// For items without a rank.
    pub const UNKNOWN: Self = Self(BANDS as u8 - 1);

    /// The band of a rank, which counts from 1. Rank 0 is nobody's.
    pub fn of(rank: Option<u32>) -> Self {
        let Some(rank) = rank.filter(|rank| *rank > 0) else { return Self::UNKNOWN };
        let place = LAST.iter().position(|last| rank <= *last);
        Self(place.unwrap_or(LAST.len()) as u8)
    }

    /// Its place among the bands.
    pub fn index(self) -> usize {
        usize::from(self.0).min(BANDS - 1)
    }

    /// A rank in its middle.
    pub fn middle(self) -> f64 {
        const MIDDLE: [f64; BANDS] =
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 9.0, 13.0, 18.0, 33.0, 75.0, 3.0];
        MIDDLE[self.index()]
    }

    /// All bands, nearest the top first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..BANDS as u8).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_a_band() {
        let rows = [(1, 0), (5, 4), (6, 5), (7, 5), (8, 6), (10, 6), (11, 7), (50, 9), (51, 10)];
        for (rank, band) in rows {
            assert_eq!(RankBand::of(Some(rank)).index(), band, "{rank}");
        }
        assert_eq!(RankBand::of(Some(u32::MAX)).index(), 10);
        assert_eq!(RankBand::of(None), RankBand::UNKNOWN);
        assert_eq!(RankBand::of(Some(0)), RankBand::UNKNOWN);
    }
}
