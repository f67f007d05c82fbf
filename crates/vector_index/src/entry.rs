//! What is kept beside a vector, and what a search asks and gets.

/// How a turn's answer was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Tier {
    Accepted,
    #[default]
    Neutral,
    Rejected,
}

/// What is known of a turn besides its vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    pub tier: Tier,
    /// Whose it is; 0 for nobody's.
    pub user: u32,
    /// What it is after, hashed; 0 for nothing known.
    pub intent: u32,
    pub quality: Quality,
    /// Whether it says how the application went about it.
    pub has_strategy: bool,
    pub silent: bool,
    /// When it was asked, in microseconds.
    pub ts: i64,
}

impl Labels {
    /// How good it is: of turns that are about equally near the better ones are found. Those that say
    /// how they went about it before those that do not, then by quality.
    pub(super) fn merit(&self) -> (bool, Quality) {
        let unknown = Quality::new(Some(0.5));
        let quality = if self.quality.get().is_some() { self.quality } else { unknown };
        (self.has_strategy, quality)
    }
}

/// A validator's score in two bytes, or none. Scores that differ by less than a sixty-thousandth
/// count as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quality(u16);

const STEPS: f64 = 65_534.0;

impl Quality {
    /// Of a score between 0 and 1.
    pub fn new(score: Option<f64>) -> Self {
        Self(score.map_or(0, |score| (score.clamp(0.0, 1.0) * STEPS).round() as u16 + 1))
    }

    pub fn get(self) -> Option<f64> {
        Some(f64::from(self.0.checked_sub(1)?) / STEPS)
    }
}

/// Which turns a search looks at. The default: all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only turns of this user.
    pub user: Option<u32>,
    /// Only turns with this intent.
    pub intent: Option<u32>,
}

/// A turn that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    pub key: i64,
    /// The cosine to what was asked, -1 to 1, never NaN; rounding of the stored vector moves it by
    /// about 0.001.
    pub similarity: f32,
    pub labels: Labels,
}

/// The nearest turns of each tier, best first: by similarity in steps of 0.05, within a step by merit,
/// then by similarity; of equal ones the larger key first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub accepted: Vec<Near>,
    pub neutral: Vec<Near>,
    pub rejected: Vec<Near>,
    /// Whether every turn that the filter lets through was compared. Otherwise a few may be missing.
    pub exact: bool,
}
