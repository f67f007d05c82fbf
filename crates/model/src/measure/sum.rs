//! Sums in whole parts, so that taking out is exact and the order of adding does not matter.

use serde::{Deserialize, Serialize};

use crate::feedback::BadData;

/// Parts of one.
const PARTS: f64 = (1_u64 << 32) as f64;
/// Larger numbers are cut: squares of a few million of them still fit.
const MOST: f64 = (1_u64 << 20) as f64;

/// A sum of parts, or of products of two of them. Written as a string: few formats and not even
/// `serde_json::Value` carry 128 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PartSum(i128);

impl PartSum {
    /// A number in parts of 2⁻³². Numbers beyond 2²⁰ are cut there; not finite counts as 0.
    pub fn of(number: f64) -> Self {
        let is_number = number.is_finite();
        Self(if is_number { (number.clamp(-MOST, MOST) * PARTS).round() as i128 } else { 0 })
    }

    /// So many whole parts.
    pub const fn of_parts(parts: i128) -> Self {
        Self(parts)
    }

    /// How many whole parts.
    pub const fn parts(self) -> i128 {
        self.0
    }

    /// The product of two numbers, in parts of 2⁻⁶⁴.
    #[must_use]
    pub const fn times(self, other: Self) -> Self {
        Self(self.0.saturating_mul(other.0))
    }

    /// So many times as much.
    #[must_use]
    pub const fn many(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times as i128))
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Without the other.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// A sum of numbers.
    pub fn single(self) -> f64 {
        self.0 as f64 / PARTS
    }

    /// A sum of products of two numbers.
    pub fn product(self) -> f64 {
        self.0 as f64 / PARTS / PARTS
    }
}

impl From<PartSum> for String {
    fn from(sum: PartSum) -> Self {
        sum.0.to_string()
    }
}

impl TryFrom<String> for PartSum {
    type Error = BadData;

    fn try_from(written: String) -> Result<Self, BadData> {
        written.parse().map(Self).map_err(|_| BadData {
            field: "sum".to_owned(),
            got: written.chars().take(60).collect(),
            expected: "a whole number of at most 128 bits".to_owned(),
        })
    }
}
