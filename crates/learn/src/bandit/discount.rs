//! How what was learnt fades, by observations or by time.

use model::BadData;
use serde::{Deserialize, Serialize};

/// How a discount is written: a factor per observation, or a half-life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Discount {
    /// What is left of an observation's weight after each further one.
    Factor(f64),
    /// After so many further observations half of the weight is left.
    Observations {
        /// How many.
        half_life_observations: f64,
    },
    /// After so many days half of the weight is left.
    Days {
        /// How many.
        half_life_days: f64,
    },
}

/// A discount that makes sense: a factor per tick, and what a tick is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fading {
    pub(super) factor: f64,
    pub(super) hourly: bool,
}

impl Fading {
    /// Nothing fades.
    pub(super) const OFF: Self = Self { factor: 1.0, hourly: false };

    pub(super) fn new(written: Option<Discount>) -> Result<Self, BadData> {
        match written {
            None => Ok(Self::OFF),
            Some(Discount::Factor(factor)) => {
                let fits = factor > 0.5 && factor <= 1.0;
                let fading = Self { factor, hourly: false };
                fits.then_some(fading)
                    .ok_or_else(|| unfit("discount", factor, "above 0.5, at most 1"))
            }
            Some(Discount::Observations { half_life_observations: life }) => {
                let fits = life.is_finite() && life >= 1.0;
                let bad = || unfit("discount.half_life_observations", life, "a number from 1");
                fits.then(|| Self { factor: half_per(life), hourly: false }).ok_or_else(bad)
            }
            Some(Discount::Days { half_life_days: life }) => {
                let fits = life.is_finite() && life >= 0.05;
                let bad = || unfit("discount.half_life_days", life, "a number from 0.05");
                fits.then(|| Self { factor: half_per(24.0 * life), hourly: true }).ok_or_else(bad)
            }
        }
    }

    pub(super) fn is_off(self) -> bool {
        self.factor == 1.0
    }

    /// What is left after so many ticks.
    pub(super) fn left(self, ticks: u64) -> f64 {
        if self.is_off() { 1.0 } else { power(self.factor, ticks) }
    }
}

fn unfit(field: &str, got: f64, expected: &str) -> BadData {
    BadData { field: field.to_owned(), got: got.to_string(), expected: expected.to_owned() }
}

/// The factor of which so many make one half. By hand, out of products and sums alone: the
/// system's `exp` may differ in the last bit from machine to machine, and state must not.
fn half_per(ticks: f64) -> f64 {
    let x = -std::f64::consts::LN_2 / ticks;
    (1..24).rev().fold(1.0, |sum, n| 1.0 + x / f64::from(n) * sum)
}

/// By repeated squaring, for the same reason.
fn power(base: f64, mut times: u64) -> f64 {
    let (mut result, mut square) = (1.0, base);
    while times > 0 && result > 0.0 {
        if times & 1 == 1 {
            result *= square;
        }
        square *= square;
        times >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_left_after_a_half_life() {
        let days = Discount::Days { half_life_days: 2.0 };
        assert!((Fading::new(Some(days)).unwrap().left(48) - 0.5).abs() < 1e-12);
        let observations = Discount::Observations { half_life_observations: 1.0 };
        assert!((Fading::new(Some(observations)).unwrap().left(3) - 0.125).abs() < 1e-12);
        assert_eq!(Fading::new(Some(Discount::Factor(0.998))).unwrap().left(1), 0.998);
        assert_eq!(Fading::OFF.left(u64::MAX), 1.0);
        assert_eq!(power(0.9, u64::MAX), 0.0);
    }

    #[test]
    fn a_discount_out_of_range_names_its_field() {
        for (written, field) in [
            (Discount::Factor(0.4), "discount"),
            (Discount::Factor(f64::NAN), "discount"),
            (Discount::Days { half_life_days: 0.0 }, "discount.half_life_days"),
            (
                Discount::Observations { half_life_observations: f64::INFINITY },
                "discount.half_life_observations",
            ),
        ] {
            assert_eq!(Fading::new(Some(written)).unwrap_err().field, field);
        }
    }
}
