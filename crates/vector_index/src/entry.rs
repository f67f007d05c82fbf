//! Labels of vectors, filters and results.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Tier {
    Accepted,
    #[default]
    Neutral,
    Rejected,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    pub tier: Tier,
    /// 0 for none.
    pub user: u32,
    /// A hash; 0 for none.
    pub intent: u32,
    pub quality: Quality,
    /// True when the turn names its strategy.
    pub has_strategy: bool,
    pub silent: bool,
    /// The time of the question, in microseconds.
    pub ts: i64,
}

impl Labels {
    /// Orders rows of about equal similarity: first those with a strategy, then by quality.
    pub(super) fn merit(&self) -> (bool, Quality) {
        let unknown = Quality::new(Some(0.5));
        let quality = if self.quality.get().is_some() { self.quality } else { unknown };
        (self.has_strategy, quality)
    }
}

/// A validator's score in two bytes, with a precision of 1/65,534.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quality(u16);

const STEPS: f64 = 65_534.0;

impl Quality {
    /// A score from 0 to 1.
    pub fn new(score: Option<f64>) -> Self {
        Self(score.map_or(0, |score| (score.clamp(0.0, 1.0) * STEPS).round() as u16 + 1))
    }

    pub fn get(self) -> Option<f64> {
        Some(f64::from(self.0.checked_sub(1)?) / STEPS)
    }
}

/// The default matches all turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub user: Option<u32>,
    pub intent: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    pub key: i64,
    /// The cosine, -1 to 1, never NaN. Packing changes it by about 0.001.
    pub similarity: f32,
    pub labels: Labels,
}

/// The nearest turns of each tier, best first: by similarity in steps of 0.05, then merit, then
/// similarity, then the larger key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub accepted: Vec<Near>,
    pub neutral: Vec<Near>,
    pub rejected: Vec<Near>,
    /// True when every matching turn was compared. Otherwise a few may be missing.
    pub exact: bool,
}
