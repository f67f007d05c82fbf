//! State per (query, entity), and the effect of a new signal.
//!
//! A repeat changes nothing. `used` overrides `ignored` in any order. The later of two explicit
//! opinions counts.

use serde::{Deserialize, Serialize};

use super::band::RankBand;
use crate::word::RelevanceSignal;

/// Use of an item in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageStanding {
    Used,
    /// Not used so far.
    Ignored,
}

/// An explicit opinion on an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    Positive,
    Negative,
}

/// The state of one (query, entity).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemStanding {
    /// `None` before any signal.
    pub usage: Option<UsageStanding>,
    pub opinion: Option<Opinion>,
}

/// Changes to the counters of the entity, of its pair with the query's cluster, and of the
/// project. Each is −1, 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Queries whose answer used it.
    pub used: i64,
    /// Queries whose answer ignored it.
    pub ignored: i64,
    /// Queries where it was helpful.
    pub positive: i64,
    /// Queries where it was unhelpful.
    pub negative: i64,
}

impl Delta {
    /// Queries that returned it and have a known outcome.
    pub fn returns(&self) -> i64 {
        self.used + self.ignored
    }

    /// True for a repeat.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl ItemStanding {
    /// The state after a signal, and the change.
    #[must_use]
    pub fn apply_signal(self, signal: RelevanceSignal) -> (Self, Delta) {
        let next = match signal {
            RelevanceSignal::Used => Self { usage: Some(UsageStanding::Used), ..self },
            RelevanceSignal::Ignored => {
                Self { usage: self.usage.or(Some(UsageStanding::Ignored)), ..self }
            }
            RelevanceSignal::ExplicitPositive => Self { opinion: Some(Opinion::Positive), ..self },
            RelevanceSignal::ExplicitNegative => Self { opinion: Some(Opinion::Negative), ..self },
        };
        (next, self.change_to(next))
    }

    /// The change that removes this state.
    pub fn removal(self) -> Delta {
        self.change_to(Self::default())
    }

    /// The change from this state to another.
    pub fn change_to(self, next: Self) -> Delta {
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

    /// The change of the returns in a rank's band.
    pub fn in_band(self, band: RankBand) -> (usize, i64) {
        (band.index(), self.returns())
    }
}
