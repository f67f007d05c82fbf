//! Discounting: old observations lose weight by count or by time.

use model::BadData;
use serde::{Deserialize, Serialize};

use crate::check_field;

/// Discount setting: a factor per observation, or a half-life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Discount {
    /// Weight kept after each further observation, above 0.5 and at most 1.
    Factor(f64),
    Observations {
        half_life_observations: f64,
    },
    Days {
        half_life_days: f64,
    },
}

/// A validated discount. A tick is one observation, or one hour when `hourly`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Decay {
    pub(super) factor: f64,
    pub(super) hourly: bool,
}

impl Decay {
    pub(super) const DISABLED: Self = Self { factor: 1.0, hourly: false };

    pub(super) fn new(discount: Option<Discount>) -> Result<Self, BadData> {
        match discount {
            None => Ok(Self::DISABLED),
            Some(Discount::Factor(factor)) => {
                let fits = factor > 0.5 && factor <= 1.0;
                check_field(fits, "discount", &factor, "above 0.5, at most 1")?;
                Ok(Self { factor, hourly: false })
            }
            Some(Discount::Observations { half_life_observations: life }) => {
                let (fits, field) = (life >= 1.0, "discount.half_life_observations");
                check_field(fits && life.is_finite(), field, &life, "a number from 1")?;
                Ok(Self { factor: half_life_factor(life), hourly: false })
            }
            Some(Discount::Days { half_life_days: life }) => {
                let (fits, field) = (life >= 0.05, "discount.half_life_days");
                check_field(fits && life.is_finite(), field, &life, "a number from 0.05")?;
                Ok(Self { factor: half_life_factor(24.0 * life), hourly: true })
            }
        }
    }

    pub(super) fn is_disabled(self) -> bool {
        self.factor == 1.0
    }

    /// Share of the weight that remains after a number of ticks.
    pub(super) fn remaining_after(self, ticks: u64) -> f64 {
        if self.is_disabled() { 1.0 } else { power_by_squaring(self.factor, ticks) }
    }
}

/// A closed period with one discount setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DiscountEra {
    pub(super) decay: Decay,
    /// First tick. Ticks of different eras (turns or hours) are not comparable.
    pub(super) since: u64,
    pub(super) until: u64,
}

/// The factor whose power `ticks` is one half. Uses only products and sums, because the system's
/// `exp` may differ in the last bit between machines.
fn half_life_factor(ticks: f64) -> f64 {
    let x = -std::f64::consts::LN_2 / ticks;
    (1..24).rev().fold(1.0, |sum, n| 1.0 + x / f64::from(n) * sum)
}

/// Repeated squaring, for the same reason.
fn power_by_squaring(base: f64, mut times: u64) -> f64 {
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
    fn half_the_weight_remains_after_a_half_life() {
        let days = Discount::Days { half_life_days: 2.0 };
        assert!((Decay::new(Some(days)).unwrap().remaining_after(48) - 0.5).abs() < 1e-12);
        let observations = Discount::Observations { half_life_observations: 1.0 };
        assert!((Decay::new(Some(observations)).unwrap().remaining_after(3) - 0.125).abs() < 1e-12);
        assert_eq!(Decay::new(Some(Discount::Factor(0.998))).unwrap().remaining_after(1), 0.998);
        assert_eq!(Decay::DISABLED.remaining_after(u64::MAX), 1.0);
        assert_eq!(power_by_squaring(0.9, u64::MAX), 0.0);
    }

    #[test]
    fn discount_out_of_range_names_its_field() {
        for (discount, field) in [
            (Discount::Factor(0.4), "discount"),
            (Discount::Factor(f64::NAN), "discount"),
            (Discount::Days { half_life_days: 0.0 }, "discount.half_life_days"),
            (
                Discount::Observations { half_life_observations: f64::INFINITY },
                "discount.half_life_observations",
            ),
        ] {
            assert_eq!(Decay::new(Some(discount)).unwrap_err().field, field);
        }
    }
}
