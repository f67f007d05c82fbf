//! What units add up to: sums, squares and products.
//!
//! Numbers are rounded once, to parts of 2⁻³² (2·10⁻¹⁰), when they come in; from there everything
//! is whole-number arithmetic. What a unit gave is taken out exactly when its totals change, so
//! ten million changes leave no more error than one, and any order gives the same bits.

use serde::{Deserialize, Serialize};

use super::metric::MetricBy;
use super::sum::PartSum;

/// What one unit has given so far.
///
/// Numbers beyond a million (2²⁰) are cut there; those that are not finite count as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitTotals {
    /// Sum of the metric over the turns that have one.
    pub value: f64,
    /// How many turns that were.
    pub count: f64,
    /// The metric's mean over the unit's turns before its exposure. Never changes afterwards.
    pub before: Option<f64>,
}

impl UnitTotals {
    /// As a metric counts them whose mean is taken over turns or over units.
    #[must_use]
    pub fn by(self, by: MetricBy) -> Self {
        match by {
            MetricBy::Turn => self,
            MetricBy::Unit => self.as_one(),
        }
    }

    /// Totals of a unit that counts once, however many turns it had.
    fn as_one(self) -> Self {
        let once = self.count > 0.0;
        let value = if once { self.value / self.count } else { 0.0 };
        Self { value, count: f64::from(u8::from(once)), before: self.before }
    }
}

// One list for the sums, so that none can be forgotten when they are added, taken out or stored.
macro_rules! moments {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Sums over units that have given anything. A product of two numbers is in parts of 2⁻⁶⁴.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Moments {
            $($(#[$doc])* pub $name: PartSum),+
        }

        impl Moments {
            /// How many sums there are.
            pub const COUNT: usize = [$(stringify!($name)),+].len();

            /// All of them, in an order that never changes.
            pub const fn values(&self) -> [PartSum; Self::COUNT] {
                [$(self.$name),+]
            }

            /// The other way round.
            pub const fn from_values(values: [PartSum; Self::COUNT]) -> Self {
                let [$($name),+] = values;
                Self { $($name),+ }
            }

            /// These units and others.
            #[must_use]
            pub const fn plus(&self, other: &Self) -> Self {
                Self { $($name: self.$name.plus(other.$name)),+ }
            }

            /// Without units that were added.
            #[must_use]
            pub const fn minus(&self, other: &Self) -> Self {
                Self { $($name: self.$name.minus(other.$name)),+ }
            }
        }
    };
}

moments! {
    /// Units, each a single part.
    units,
    /// Of their values.
    value,
    /// Of their counts.
    count,
    /// Value by value.
    value_value,
    /// Value by count.
    value_count,
    /// Count by count.
    count_count,
    /// Units whose time before is known, each a single part.
    known_units,
    /// Of the values of those.
    known_value,
    /// Of the counts of those.
    known_count,
    /// Of their time before.
    before,
    /// Before by before.
    before_before,
    /// Value by before.
    value_before,
    /// Count by before.
    count_before,
}

impl Moments {
    /// Those of one unit alone. Nothing when it has no turn that counts.
    pub fn of(totals: UnitTotals) -> Self {
        let (value, count) = (PartSum::of(totals.value), PartSum::of(totals.count));
        if count.parts() <= 0 {
            return Self::default();
        }
        let units = PartSum::of_parts(1);
        let alone = Self {
            units,
            value,
            count,
            value_value: value.times(value),
            value_count: value.times(count),
            count_count: count.times(count),
            ..Self::default()
        };
        let Some(before) = totals.before.filter(|before| before.is_finite()).map(PartSum::of)
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
