//! Numbers with a bounded range.

use serde::{Deserialize, Serialize};

/// A number from 0 to 1 inclusive: a score, a confidence, a reward.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(into = "f64", try_from = "f64")]
pub struct UnitInterval(f64);

impl UnitInterval {
    pub const ONE: Self = Self(1.0);

    pub const HALF: Self = Self(0.5);

    pub const ZERO: Self = Self(0.0);

    /// Returns `None` for NaN and for anything outside 0..=1.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl From<UnitInterval> for f64 {
    fn from(number: UnitInterval) -> Self {
        number.0
    }
}

impl TryFrom<f64> for UnitInterval {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::new(value).ok_or("expected a number from 0 to 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_from_zero_to_one_are_accepted() {
        for good in [0.0, 0.5, 1.0] {
            assert_eq!(UnitInterval::new(good).map(UnitInterval::get), Some(good));
        }
        for bad in [-0.001, 1.001, f64::NAN, f64::INFINITY] {
            assert_eq!(UnitInterval::new(bad), None, "{bad}");
        }
    }
}
