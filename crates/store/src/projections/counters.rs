//! Counters of quality and experiments, and the steps of latency histograms.

use model::Metric;

// One list for the counters, their columns and their sums, so that none can be forgotten somewhere.
macro_rules! counters {
    ($(#[$about:meta])* $counts:ident: $($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $counts {
            $($(#[$doc])* pub $name: i64),+
        }

        impl $counts {
            /// The columns, in the order of `values`.
            pub const COLUMNS: &[&str] = &[$(stringify!($name)),+];

            /// The numbers, in the order of the columns.
            pub const fn values(&self) -> [i64; Self::COLUMNS.len()] {
                [$(self.$name),+]
            }

            /// The other way round.
            pub const fn from_values(values: [i64; Self::COLUMNS.len()]) -> Self {
                let [$($name),+] = values;
                Self { $($name),+ }
            }

            /// What must be added to `before` to get this.
            pub const fn since(&self, before: &Self) -> Self {
                Self { $($name: self.$name - before.$name),+ }
            }

            pub const fn plus(&self, other: &Self) -> Self {
                Self { $($name: self.$name + other.$name),+ }
            }
        }
    };
}

counters! {
    /// Sums over turns, and over what names none.
    QualityCounts:
    /// Turns that were opened.
    turns,
    /// Turns that have an answer.
    answered,
    /// Answers that failed.
    failed,
    /// Good reactions of users.
    ok,
    /// Bad ones.
    not_ok,
    /// Those in between.
    neutral,
    /// Answers that were accepted.
    accepted,
    /// Answers that were rejected.
    rejected,
    /// Answers that were rejected or corrected.
    wrong,
    /// Answers that were corrected.
    corrected,
    /// Turns whose question was asked again.
    retried,
    /// Turns of which a person gave a sign.
    heard,
    /// Turns of which both user and machine said good or bad.
    both,
    /// Those of which they said the same.
    agree,
    /// Questions that refine an earlier one.
    refined,
    /// Sessions that ended.
    ended,
    /// Those that were abandoned.
    abandoned,
    /// Tokens of all answers.
    tokens,
    /// What all answers cost, in billionths.
    cost,
    /// SQL statements that were generated.
    sql_made,
    /// Those that were executed without an error.
    sql_executed,
    /// Corrections of answers that nobody reported.
    loose_corrected,
    /// Questions that refine one that nobody reported.
    loose_refined,
    /// Comments that sound pleased.
    comments_positive,
    /// Comments that sound displeased.
    comments_negative,
    /// Comments that sound like neither.
    comments_neutral,
}

counters! {
    /// What a unit's turns add up to.
    UnitSums:
    /// Turns.
    turns,
    /// Those that have an answer.
    answered,
    /// Answers that failed.
    failed,
    /// Good reactions of users.
    ok,
    /// Bad ones.
    not_ok,
    /// Those in between.
    neutral,
    /// Answers that were rejected.
    rejected,
    /// Answers that were corrected.
    corrected,
    /// Turns whose question was asked again.
    retried,
    /// Answers whose time is known.
    timed,
    /// How long those took.
    millis,
    /// What all answers cost, in billionths.
    cost,
    /// Answers that a validator gave a score.
    scored,
    /// The sum of those scores, in billionths.
    score,
}

impl UnitSums {
    /// The sum of a metric and how many turns it is over. Shares are those of the quality figures.
    pub fn measured(&self, metric: Metric) -> (f64, f64) {
        let of = |value: i64, count: i64| (value as f64, count as f64);
        match metric {
            Metric::Satisfaction => of(self.ok, self.ok + self.not_ok + self.neutral),
            Metric::ErrorRate => of(self.failed, self.answered),
            Metric::RejectionRate => of(self.rejected, self.answered),
            Metric::CorrectionRate => of(self.corrected, self.answered),
            Metric::RetryRate => of(self.retried, self.turns),
            Metric::Latency => (self.millis as f64 / 1e3, self.timed as f64),
            Metric::Cost => (self.cost as f64 / 1e9, self.answered as f64),
            Metric::QualityScore => (self.score as f64 / 1e9, self.scored as f64),
            // Refused when an experiment is defined: only routers know it.
            Metric::Reward => (0.0, 0.0),
        }
    }

    /// The mean of a metric; `None` when no turn has it.
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        let (value, count) = self.measured(metric);
        (count > 0.0).then(|| value / count)
    }
}

/// The step of a time: a tenth more than the one before.
pub fn wait_step(millis: u64) -> u32 {
    ((millis as f64 + 1.0).ln() / GROWTH.ln()).floor() as u32
}

/// The time in the middle of a step, in milliseconds.
pub fn wait_millis(step: u32) -> f64 {
    (GROWTH.powf(f64::from(step) + 0.5) - 1.0).max(0.0)
}

const GROWTH: f64 = 1.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_within_a_twentieth_of_its_times() {
        for millis in [10, 99, 250, 1_250, 30_000, 3_600_000] {
            let middle = wait_millis(wait_step(millis));
            let off = (middle - millis as f64).abs() / millis as f64;
            assert!(off < 0.06, "{millis}: {middle}");
        }
        assert_eq!(wait_step(0), 0);
    }

    #[test]
    fn sums_and_differences_belong_together() {
        let one = QualityCounts { turns: 2, cost: 7, ..QualityCounts::default() };
        let two = QualityCounts { turns: 5, agree: 1, ..QualityCounts::default() };
        assert_eq!(one.plus(&two.since(&one)), two);
        assert_eq!(QualityCounts::from_values(two.values()), two);
    }
}
