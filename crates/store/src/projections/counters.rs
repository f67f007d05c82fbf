//! Counters of quality and experiments, and the steps of latency histograms.

use model::Metric;

// One list generates the fields, columns and sums, so that none is forgotten.
macro_rules! counters {
    ($(#[$about:meta])* $counts:ident: $($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $counts {
            $($(#[$doc])* pub $name: i64),+
        }

        impl $counts {
            /// Column names, in the order of `values`.
            pub const COLUMNS: &[&str] = &[$(stringify!($name)),+];

            pub const fn values(&self) -> [i64; Self::COLUMNS.len()] {
                [$(self.$name),+]
            }

            pub const fn from_values(values: [i64; Self::COLUMNS.len()]) -> Self {
                let [$($name),+] = values;
                Self { $($name),+ }
            }

            /// The difference to add to `before`.
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
    /// Sums over turns, and over events without a turn.
    QualityCounts:
    turns,
    answered,
    failed,
    /// Positive reactions of users.
    ok,
    not_ok,
    neutral,
    accepted,
    rejected,
    /// Rejected or corrected answers.
    wrong,
    corrected,
    /// Turns whose question was asked again.
    retried,
    /// Turns with any signal from a person.
    heard,
    /// Turns rated good or bad by both user and machine.
    both,
    /// Turns on which user and machine agree.
    agree,
    refined,
    ended,
    abandoned,
    tokens,
    /// In billionths of the currency.
    cost,
    /// SQL statements with a known outcome.
    sql_made,
    /// SQL statements executed without an error.
    sql_executed,
    /// Corrections of answers that were not reported.
    loose_corrected,
    /// Refinements of questions that were not reported.
    loose_refined,
    comments_positive,
    comments_negative,
    comments_neutral,
    /// Errors of requests that were not reported as turns.
    loose_failed,
}

counters! {
    /// Sums over a unit's turns.
    UnitSums:
    turns,
    answered,
    failed,
    ok,
    not_ok,
    neutral,
    rejected,
    corrected,
    retried,
    /// Answers with a known latency.
    timed,
    millis,
    /// In billionths of the currency.
    cost,
    /// Answers with a validator's score.
    scored,
    /// The sum of the scores, in billionths.
    score,
}

impl UnitSums {
    /// The sum of a metric and the number of turns behind it, as in the quality report.
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
            // Experiments reject this metric; only routers have it.
            Metric::Reward => (0.0, 0.0),
        }
    }

    /// The mean of a metric; `None` without a turn.
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        let (value, count) = self.measured(metric);
        (count > 0.0).then(|| value / count)
    }
}

/// The histogram step of a latency. Each step is a tenth longer than the one before.
pub fn wait_step(millis: u64) -> u32 {
    ((millis as f64 + 1.0).ln() / GROWTH.ln()).floor() as u32
}

/// The middle of a step, in milliseconds.
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
