//! The contribution of a turn to experiments.

use super::Facts;
use crate::projections::counters::UnitSums;

impl Facts {
    /// All sums but the score, which is not a fact. The counters mean the same as in rates.
    pub(crate) fn unit_sums(&self) -> UnitSums {
        let counts = self.counts();
        let millis = self.millis.filter(|_| self.answered);
        UnitSums {
            turns: counts.turns,
            answered: counts.answered,
            failed: counts.failed,
            ok: counts.ok,
            not_ok: counts.not_ok,
            neutral: counts.neutral,
            rejected: counts.rejected,
            corrected: counts.corrected,
            retried: counts.retried,
            timed: i64::from(millis.is_some()),
            millis: millis.map_or(0, |millis| i64::try_from(millis).unwrap_or(i64::MAX >> 16)),
            cost: counts.cost,
            scored: 0,
            score: 0,
        }
    }
}
