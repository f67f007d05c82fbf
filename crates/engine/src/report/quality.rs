//! Quality figures, computed from sums.

use store::{QualityBucket, QualityCounts, wait_millis};

use crate::report::rate::Rate;

// Declares each figure with its name on the wire.
macro_rules! figures {
    ($($(#[$doc:meta])* $variant:ident $word:literal),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Figure { $($(#[$doc])* $variant),+ }

        impl Figure {
            /// In display order.
            pub const ALL_FIGURES: &[Self] = &[$(Self::$variant),+];
            pub const WORDS: &[&str] = &[$($word),+];

            /// The name on the wire.
            pub const fn as_word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

figures! {
    /// Positive reactions of users, of all reactions.
    Satisfaction "satisfaction",
    /// Answers neither corrected nor rejected, of all answers.
    AccuracyRate "accuracy_rate",
    /// Generated SQL statements executed without an error, of those with a known outcome.
    SqlAccuracy "sql_accuracy",
    /// Corrected answers, of all. A correction without a turn counts as one more answer.
    CorrectionRate "correction_rate",
    /// Refined questions, of all questions.
    RefinementRate "refinement_rate",
    /// Abandoned sessions, of those that ended.
    AbandonmentRate "abandonment_rate",
    /// Rejected answers, of all.
    RejectionRate "rejection_rate",
    /// Repeated questions, of all.
    RetryRate "retry_rate",
    /// Failed answers, of all.
    ErrorRate "error_rate",
    /// Turns with feedback from a person, of all.
    FeedbackCoverage "feedback_coverage",
    /// Turns where user and machine agree, of those where both took sides.
    Agreement "implicit_explicit_agreement",
    /// Median seconds to the answer.
    LatencyMedian "latency_p50",
    /// 95th percentile of seconds to the answer.
    LatencyTail "latency_p95",
    /// Tokens of all answers per accepted answer.
    TokensPerAccepted "tokens_per_accepted",
    /// Cost of all answers per accepted answer.
    CostPerAccepted "cost_per_accepted",
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    Min(f64),
    Max(f64),
}

impl Target {
    pub fn is_met(self, value: f64) -> bool {
        match self {
            Self::Min(least) => value >= least,
            Self::Max(most) => value <= most,
        }
    }

    /// True when the whole interval misses the target.
    pub fn is_missed(self, (low, high): (f64, f64)) -> bool {
        match self {
            Self::Min(least) => high < least,
            Self::Max(most) => low > most,
        }
    }
}

/// The kind of target that a figure can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    Share,
    /// An upper bound in seconds.
    Seconds,
    /// No target: the sums give no interval, so a miss cannot be established.
    None,
}

impl Figure {
    /// The default target.
    pub const fn default_target(self) -> Option<Target> {
        match self {
            Self::Satisfaction => Some(Target::Min(0.85)),
            Self::SqlAccuracy => Some(Target::Min(0.90)),
            Self::CorrectionRate => Some(Target::Max(0.10)),
            Self::RefinementRate => Some(Target::Max(0.20)),
            Self::AbandonmentRate => Some(Target::Max(0.15)),
            Self::AccuracyRate
            | Self::RejectionRate
            | Self::RetryRate
            | Self::ErrorRate
            | Self::FeedbackCoverage
            | Self::Agreement
            | Self::LatencyMedian
            | Self::LatencyTail
            | Self::TokensPerAccepted
            | Self::CostPerAccepted => None,
        }
    }

    pub const fn more_is_better(self) -> bool {
        match self {
            Self::Satisfaction
            | Self::AccuracyRate
            | Self::SqlAccuracy
            | Self::FeedbackCoverage
            | Self::Agreement => true,
            Self::CorrectionRate
            | Self::RefinementRate
            | Self::AbandonmentRate
            | Self::RejectionRate
            | Self::RetryRate
            | Self::ErrorRate
            | Self::LatencyMedian
            | Self::LatencyTail
            | Self::TokensPerAccepted
            | Self::CostPerAccepted => false,
        }
    }

    pub const fn bounds(self) -> Bounds {
        match self {
            Self::Satisfaction
            | Self::AccuracyRate
            | Self::SqlAccuracy
            | Self::CorrectionRate
            | Self::RefinementRate
            | Self::AbandonmentRate
            | Self::RejectionRate
            | Self::RetryRate
            | Self::ErrorRate
            | Self::FeedbackCoverage
            | Self::Agreement => Bounds::Share,
            Self::LatencyMedian | Self::LatencyTail => Bounds::Seconds,
            Self::TokensPerAccepted | Self::CostPerAccepted => Bounds::None,
        }
    }

    /// Computes the figure from sums.
    pub fn compute(self, sums: &QualityBucket) -> Reading {
        let c = &sums.counts;
        let of = |part: i64, all: i64| Reading::Share(Rate::from_counts(part, all));
        // A correction without a turn implies an unreported answer that was wrong.
        let answers = c.answered + c.loose_corrected;
        match self {
            Self::Satisfaction => of(c.ok, c.ok + c.not_ok + c.neutral),
            Self::AccuracyRate => of(c.answered - c.wrong, answers),
            Self::SqlAccuracy => of(c.sql_executed, c.sql_made),
            Self::CorrectionRate => of(c.corrected + c.loose_corrected, answers),
            Self::RefinementRate => of(c.refined + c.loose_refined, c.turns + c.loose_refined),
            Self::AbandonmentRate => of(c.abandoned, c.ended),
            Self::RejectionRate => of(c.rejected, c.answered),
            Self::RetryRate => of(c.retried, c.turns),
            Self::ErrorRate => of(c.failed + c.loose_failed, c.answered + c.loose_failed),
            Self::FeedbackCoverage => of(c.heard, c.turns),
            Self::Agreement => of(c.agree, c.both),
            Self::LatencyMedian => quantile(&sums.waits, 0.50),
            Self::LatencyTail => quantile(&sums.waits, 0.95),
            Self::TokensPerAccepted => Reading::Mean(c.tokens as f64, clamp_count(c.accepted)),
            Self::CostPerAccepted => Reading::Mean(c.cost as f64 / 1e9, clamp_count(c.accepted)),
        }
    }
}

/// The value of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    Share(Rate),
    /// A sum and its count.
    Mean(f64, u64),
    /// A quantile in seconds with its 95% interval, and the count.
    Seconds(Option<(f64, (f64, f64))>, u64),
}

impl Reading {
    /// `None` when nothing was counted.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Share(rate) => rate.value(),
            // Missing cost means unknown, not zero.
            Self::Mean(sum, count) => (count > 0 && sum > 0.0).then(|| sum / count as f64),
            Self::Seconds(found, _) => found.map(|(seconds, _)| seconds),
        }
    }

    /// The 95% interval, where the sums allow one.
    pub fn interval(self) -> Option<(f64, f64)> {
        match self {
            Self::Share(rate) => rate.interval(),
            Self::Mean(..) => None,
            Self::Seconds(found, _) => found.map(|(_, interval)| interval),
        }
    }

    /// `None` for quantiles.
    pub fn numerator(self) -> Option<f64> {
        match self {
            Self::Share(rate) => Some(rate.numerator as f64),
            Self::Mean(sum, _) => Some(sum),
            Self::Seconds(..) => None,
        }
    }

    pub fn denominator(self) -> u64 {
        match self {
            Self::Share(rate) => rate.denominator,
            Self::Mean(_, count) | Self::Seconds(_, count) => count,
        }
    }
}

fn clamp_count(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// The quantile of answer times. Its interval lies between ranks given by the normal approximation
/// of the binomial.
fn quantile(waits: &[(u32, i64)], share: f64) -> Reading {
    let count: i64 = waits.iter().map(|(_, count)| count).sum();
    if count <= 0 {
        return Reading::Seconds(None, 0);
    }
    let n = count as f64;
    let at = |rank: f64| {
        let rank = rank.clamp(1.0, n);
        let mut passed = 0.0;
        for (step, count) in waits {
            passed += *count as f64;
            if passed >= rank {
                return wait_millis(*step) / 1000.0;
            }
        }
        0.0
    };
    let spread = 1.96 * (n * share * (1.0 - share)).sqrt();
    let middle = n * share;
    let interval = (at((middle - spread).floor()), at((middle + spread).ceil() + 1.0));
    Reading::Seconds(Some((at(middle.ceil()), interval)), clamp_count(count))
}

/// Adds up all buckets.
pub fn sum_buckets(buckets: &[QualityBucket]) -> QualityBucket {
    let mut waits = std::collections::BTreeMap::new();
    let mut counts = QualityCounts::default();
    for bucket in buckets {
        counts = counts.plus(&bucket.counts);
        for (step, count) in &bucket.waits {
            *waits.entry(*step).or_insert(0) += count;
        }
    }
    QualityBucket { hour: 0, counts, waits: waits.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::wait_step;

    fn read(figure: Figure, counts: QualityCounts) -> (Option<f64>, Option<f64>, u64) {
        let found = figure.compute(&QualityBucket { counts, ..QualityBucket::default() });
        (found.value(), found.numerator(), found.denominator())
    }

    #[test]
    fn figures_match_their_definition() {
        let counts = QualityCounts {
            turns: 20,
            answered: 10,
            ok: 6,
            not_ok: 3,
            neutral: 1,
            corrected: 1,
            wrong: 2,
            refined: 5,
            ended: 4,
            abandoned: 1,
            accepted: 5,
            tokens: 100,
            cost: 2_000_000_000,
            sql_made: 8,
            sql_executed: 6,
            ..QualityCounts::default()
        };
        for (figure, value, denominator) in [
            (Figure::Satisfaction, 0.6, 10),
            (Figure::AccuracyRate, 0.8, 10),
            (Figure::SqlAccuracy, 0.75, 8),
            (Figure::CorrectionRate, 0.1, 10),
            (Figure::RefinementRate, 0.25, 20),
            (Figure::AbandonmentRate, 0.25, 4),
            (Figure::ErrorRate, 0.0, 10),
            (Figure::TokensPerAccepted, 20.0, 5),
            (Figure::CostPerAccepted, 0.4, 5),
        ] {
            let (found, _, of) = read(figure, counts);
            assert_eq!((found, of), (Some(value), denominator), "{figure:?}");
        }
    }

    #[test]
    fn figures_without_counts_have_no_value() {
        for figure in Figure::ALL_FIGURES {
            let (value, _, denominator) = read(*figure, QualityCounts::default());
            assert_eq!((value, denominator), (None, 0), "{figure:?}");
        }
    }

    #[test]
    fn feedback_without_a_turn_counts_as_one_more_answer() {
        let loose = QualityCounts { loose_corrected: 2, ..QualityCounts::default() };
        assert_eq!(read(Figure::CorrectionRate, loose), (Some(1.0), Some(2.0), 2));
        assert_eq!(read(Figure::AccuracyRate, loose), (Some(0.0), Some(0.0), 2));
        assert_eq!(
            read(Figure::RejectionRate, loose),
            (None, Some(0.0), 0),
            "no answer was rejected"
        );
        let both = QualityCounts { answered: 6, corrected: 1, wrong: 2, turns: 6, ..loose };
        assert_eq!(read(Figure::CorrectionRate, both), (Some(0.375), Some(3.0), 8));
        assert_eq!(read(Figure::AccuracyRate, both), (Some(0.5), Some(4.0), 8));
        let refined = QualityCounts { turns: 1, refined: 1, loose_refined: 3, ..loose };
        assert_eq!(read(Figure::RefinementRate, refined), (Some(1.0), Some(4.0), 4));
    }

    #[test]
    fn quantiles_match_the_answer_times() {
        let waits = vec![(wait_step(100), 90), (wait_step(2000), 10)];
        let sums = QualityBucket { waits, ..QualityBucket::default() };
        let near = |figure: Figure, expected: f64| {
            let found = figure.compute(&sums).value().unwrap();
            assert!((found - expected).abs() < 0.06 * expected, "{figure:?} {found}");
        };
        near(Figure::LatencyMedian, 0.1);
        near(Figure::LatencyTail, 2.0);
        let (low, high) = Figure::LatencyTail.compute(&sums).interval().unwrap();
        assert!(low < 0.2 && high > 1.8, "{low} {high}");
    }

    #[test]
    fn target_is_missed_only_by_the_whole_interval() {
        let target = Target::Min(0.85);
        assert!(
            !target.is_met(0.8) && !target.is_missed((0.7, 0.9)) && target.is_missed((0.7, 0.84))
        );
        let target = Target::Max(0.1);
        assert!(
            target.is_met(0.1) && target.is_missed((0.11, 0.2)) && !target.is_missed((0.05, 0.2))
        );
    }
}
