//! Sums in whole parts, so that taking out is exact and the order of adding does not matter.

use event::BadData;
use serde::{Deserialize, Serialize};

/// Parts of one.
const PARTS: f64 = (1_u64 << 32) as f64;
/// Larger numbers are cut: squares of a few million of them still fit.
const MOST: f64 = (1_u64 << 20) as f64;

/// A number in parts of 2⁻³². Not finite counts as 0.
pub(super) fn parts(value: f64) -> i128 {
    if value.is_finite() { (value.clamp(-MOST, MOST) * PARTS).round() as i128 } else { 0 }
}

/// A sum of parts, or of products of two of them. Written as a string: few formats and not even
/// `serde_json::Value` carry 128 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(super) struct Sum(i128);

impl Sum {
    pub(super) fn of(parts: i128) -> Self {
        Self(parts)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }

    pub(super) fn take(&mut self, other: Self) {
        self.0 = self.0.saturating_sub(other.0);
    }

    /// A sum of numbers.
    pub(super) fn single(self) -> f64 {
        self.0 as f64 / PARTS
    }

    /// A sum of products of two numbers.
    pub(super) fn product(self) -> f64 {
        self.0 as f64 / PARTS / PARTS
    }
}

impl From<Sum> for String {
    fn from(sum: Sum) -> Self {
        sum.0.to_string()
    }
}

impl TryFrom<String> for Sum {
    type Error = BadData;

    fn try_from(written: String) -> Result<Self, BadData> {
        written.parse().map(Self).map_err(|_| BadData {
            field: "sum".to_owned(),
            got: written.chars().take(60).collect(),
            expected: "a whole number of at most 128 bits".to_owned(),
        })
    }
}
