//! Sums, squares and products over units.
//!
//! Inputs are rounded once, to multiples of 2⁻³² (2·10⁻¹⁰). All further arithmetic is on integers.
//! A unit's contribution is removed exactly when its totals change, so errors do not accumulate
//! and any order gives the same bits.

use serde::{Deserialize, Serialize};

use super::metric::MetricBy;
use super::sum::PartSum;

/// Totals of one unit.
///
/// Numbers beyond a million (2²⁰) are clamped; non-finite ones count as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitTotals {
    /// Sum of the metric over turns that have a value.
    pub value: f64,
    /// Number of those turns.
    pub count: f64,
    /// Mean of the metric over the unit's turns before its exposure. Fixed afterwards.
    pub before: Option<f64>,
}

impl UnitTotals {
    /// The totals for a mean over turns or over units.
    #[must_use]
    pub fn weighted_by(self, by: MetricBy) -> Self {
        match by {
            MetricBy::Turn => self,
            MetricBy::Unit => self.as_one(),
        }
    }

    /// Totals of a unit that counts once, regardless of its turns.
    fn as_one(self) -> Self {
        let once = self.count > 0.0;
        let value = if once { self.value / self.count } else { 0.0 };
        Self { value, count: f64::from(u8::from(once)), before: self.before }
    }
}

// One list of sums, so that none is forgotten when they are added, removed or stored.
macro_rules! moments {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Sums over units with data. Products of two numbers are multiples of 2⁻⁶⁴.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Moments {
            $($(#[$doc])* pub $name: PartSum),+
        }

        impl Moments {
            pub const COUNT: usize = [$(stringify!($name)),+].len();

            /// All sums in a fixed order.
            pub const fn values(&self) -> [PartSum; Self::COUNT] {
                [$(self.$name),+]
            }

            pub const fn from_values(values: [PartSum; Self::COUNT]) -> Self {
                let [$($name),+] = values;
                Self { $($name),+ }
            }

            #[must_use]
            pub const fn plus(&self, other: &Self) -> Self {
                Self { $($name: self.$name.plus(other.$name)),+ }
            }

            #[must_use]
            pub const fn minus(&self, other: &Self) -> Self {
                Self { $($name: self.$name.minus(other.$name)),+ }
            }
        }
    };
}

moments! {
    /// Number of units.
    units,
    /// Sum of values.
    value,
    /// Sum of counts.
    count,
    /// Sum of squared values.
    value_value,
    /// Sum of value × count.
    value_count,
    /// Sum of squared counts.
    count_count,
    /// Number of units with a pre-exposure mean.
    known_units,
    /// Sum of their values.
    known_value,
    /// Sum of their counts.
    known_count,
    /// Sum of their pre-exposure means.
    before,
    /// Sum of squared pre-exposure means.
    before_before,
    /// Sum of value × pre-exposure mean.
    value_before,
    /// Sum of count × pre-exposure mean.
    count_before,
}

impl Moments {
    /// The moments of one unit. Zero without a counted turn.
    pub fn from_totals(totals: UnitTotals) -> Self {
        let (value, count) =
            (PartSum::from_number(totals.value), PartSum::from_number(totals.count));
        if count.parts() <= 0 {
            return Self::default();
        }
        let units = PartSum::from_parts(1);
        let alone = Self {
            units,
            value,
            count,
            value_value: value.times(value),
            value_count: value.times(count),
            count_count: count.times(count),
            ..Self::default()
        };
        let Some(before) =
            totals.before.filter(|before| before.is_finite()).map(PartSum::from_number)
        else {
            return alone;
        };
        Self {
            known_units: units,
            known_value: value,
            known_count: count,
            before,
            before_before: before.times(before),
            value_before: value.times(before),
            count_before: count.times(before),
            ..alone
        }
    }
}
