//! Sums in integer parts, so that removal is exact and order does not matter.

use serde::{Deserialize, Serialize};

use crate::body::BadData;

/// Parts per 1.
const PARTS_PER_ONE: f64 = (1_u64 << 32) as f64;
/// Larger numbers are clamped, so that squares of a few million of them fit.
const MAX_NUMBER: f64 = (1_u64 << 20) as f64;

/// A sum of parts, or of products of two. Serialised as a string, since `serde_json::Value` and
/// most formats lack 128-bit integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PartSum(i128);

impl PartSum {
    /// A number in parts of 2⁻³². Clamped at 2²⁰; non-finite counts as 0.
    pub fn from_number(number: f64) -> Self {
        let is_number = number.is_finite();
        Self(if is_number {
            (number.clamp(-MAX_NUMBER, MAX_NUMBER) * PARTS_PER_ONE).round() as i128
        } else {
            0
        })
    }

    pub const fn from_parts(parts: i128) -> Self {
        Self(parts)
    }

    pub const fn parts(self) -> i128 {
        self.0
    }

    /// The product of two numbers, in parts of 2⁻⁶⁴.
    #[must_use]
    pub const fn times(self, other: Self) -> Self {
        Self(self.0.saturating_mul(other.0))
    }

    #[must_use]
    pub const fn repeated(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times as i128))
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The value of a sum of numbers.
    pub fn single(self) -> f64 {
        self.0 as f64 / PARTS_PER_ONE
    }

    /// The value of a sum of products.
    pub fn product(self) -> f64 {
        self.0 as f64 / PARTS_PER_ONE / PARTS_PER_ONE
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
