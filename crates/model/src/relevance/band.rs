//! Rank bands. Counters per band allow examination probabilities to be learnt later and applied to
//! earlier counts.

use serde::{Deserialize, Serialize};

/// Number of bands, including the one for unknown ranks.
pub const BANDS: usize = 12;

/// The last rank of each band except the final two.
const LAST_RANKS: [u32; 10] = [1, 2, 3, 4, 5, 7, 10, 15, 20, 50];

/// Ranks that are examined about equally often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RankBand(u8);

impl RankBand {
    /// The band with this index.
    pub fn from_index(index: u8) -> Self {
        Self(index.min(BANDS as u8 - 1))
    }

    /// The band of items without a rank.
    pub const UNKNOWN: Self = Self(BANDS as u8 - 1);

    /// The band of a rank, counted from 1. Rank 0 is invalid.
    pub fn from_rank(rank: Option<u32>) -> Self {
        let Some(rank) = rank.filter(|rank| *rank > 0) else { return Self::UNKNOWN };
        let place = LAST_RANKS.iter().position(|last| rank <= *last);
        Self(place.unwrap_or(LAST_RANKS.len()) as u8)
    }

    pub fn index(self) -> usize {
        usize::from(self.0).min(BANDS - 1)
    }

    /// A representative rank of the band.
    pub fn middle(self) -> f64 {
        const MIDDLE: [f64; BANDS] =
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 9.0, 13.0, 18.0, 33.0, 75.0, 3.0];
        MIDDLE[self.index()]
    }

    /// All bands, top ranks first.
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
            assert_eq!(RankBand::from_rank(Some(rank)).index(), band, "{rank}");
        }
        assert_eq!(RankBand::from_rank(Some(u32::MAX)).index(), 10);
        assert_eq!(RankBand::from_rank(None), RankBand::UNKNOWN);
        assert_eq!(RankBand::from_rank(Some(0)), RankBand::UNKNOWN);
    }
}
