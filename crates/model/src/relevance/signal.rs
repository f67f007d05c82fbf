//! One row for each (query, entity): what stands, and what a new signal changes about it.
//!
//! A repeat changes nothing, `used` beats `ignored` in whatever order they come, and of two explicit
//! opinions the later one stands.

use serde::{Deserialize, Serialize};

use super::band::RankBand;
use crate::word::RelevanceSignal;

/// Whether an answer used it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageStanding {
    /// It did.
    Used,
    /// It did not, so far.
    Ignored,
}

/// What somebody thought of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    /// Helpful.
    Positive,
    /// Unhelpful.
    Negative,
}

/// What stands for one (query, entity).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemStanding {
    /// Used or ignored; `None` before anybody looked.
    pub usage: Option<UsageStanding>,
    /// The last explicit opinion.
    pub opinion: Option<Opinion>,
}

/// What a signal changes in the counters of the entity, of its pair with the query's cluster, and of
/// the project. Every number is −1, 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Queries whose answer used it.
    pub used: i64,
    /// Queries whose answer did not.
    pub ignored: i64,
    /// Queries for which it was found helpful.
    pub positive: i64,
    /// Queries for which it was found unhelpful.
    pub negative: i64,
}

impl Delta {
    /// Queries that returned it and of which the outcome is known.
    pub fn returns(&self) -> i64 {
        self.used + self.ignored
    }

    /// Nothing changes: the signal was a repeat.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl ItemStanding {
    /// What stands after a signal, and what that changes.
    #[must_use]
    pub fn after(self, signal: RelevanceSignal) -> (Self, Delta) {
        let next = match signal {
            RelevanceSignal::Used => Self { usage: Some(UsageStanding::Used), ..self },
            RelevanceSignal::Ignored => {
                Self { usage: self.usage.or(Some(UsageStanding::Ignored)), ..self }
            }
            RelevanceSignal::ExplicitPositive => Self { opinion: Some(Opinion::Positive), ..self },
            RelevanceSignal::ExplicitNegative => Self { opinion: Some(Opinion::Negative), ..self },
        };
        (next, self.becoming(next))
    }

    /// What taking it all back changes.
    pub fn removal(self) -> Delta {
        self.becoming(Self::default())
    }

    /// What changes when this becomes another.
    pub fn becoming(self, next: Self) -> Delta {
        next.count().less(self.count())
    }

    fn count(self) -> Delta {
        let one = |yes: bool| i64::from(yes);
        Delta {
            used: one(self.usage == Some(UsageStanding::Used)),
            ignored: one(self.usage == Some(UsageStanding::Ignored)),
            positive: one(self.opinion == Some(Opinion::Positive)),
            negative: one(self.opinion == Some(Opinion::Negative)),
        }
    }
}

impl Delta {
    fn less(self, other: Self) -> Self {
        Self {
            used: self.used - other.used,
            ignored: self.ignored - other.ignored,
            positive: self.positive - other.positive,
            negative: self.negative - other.negative,
        }
    }

    /// What it changes in the returns of a rank's band.
    pub fn in_band(self, band: RankBand) -> (usize, i64) {
        (band.index(), self.returns())
    }
}
