//! The figures of quality, out of sums.

use store::{QualityBucket, QualityCounts, wait_millis};

use crate::rate::Rate;

// One shape for every figure: its word on the wire, and what it is.
macro_rules! figures {
    ($($(#[$doc:meta])* $variant:ident $word:literal),+ $(,)?) => {
        /// A figure of quality.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Figure { $($(#[$doc])* $variant),+ }

        impl Figure {
            /// All of them, in the order they are shown.
            pub const ALL: &[Self] = &[$(Self::$variant),+];
            /// Their words.
            pub const WORDS: &[&str] = &[$($word),+];

            /// The word on the wire.
            pub const fn as_word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The figure that a word names.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

figures! {
    /// Good reactions of users, of all.
    Satisfaction "satisfaction",
    /// Answers that nobody corrected or rejected, of all.
    AccuracyRate "accuracy_rate",
    /// Generated SQL statements that were executed without an error, of all.
    SqlAccuracy "sql_accuracy",
    /// Answers that were corrected, of all; one that nobody reported counts as one more answer.
    CorrectionRate "correction_rate",
    /// Questions that refine an earlier one, of all.
    RefinementRate "refinement_rate",
    /// Sessions that were abandoned, of those that ended.
    AbandonmentRate "abandonment_rate",
    /// Answers that were rejected, of all.
    RejectionRate "rejection_rate",
    /// Questions that were asked again, of all.
    RetryRate "retry_rate",
    /// Answers that failed, of all.
    ErrorRate "error_rate",
    /// Turns of which a person gave a sign, of all.
    FeedbackCoverage "feedback_coverage",
    /// Turns of which user and machine said the same, of those where both took sides.
    Agreement "implicit_explicit_agreement",
    /// Seconds that half of the answers took at the most.
    LatencyMedian "latency_p50",
    /// Seconds that 95% of the answers took at the most.
    LatencyTail "latency_p95",
    /// Tokens of all answers, for each that was accepted.
    TokensPerAccepted "tokens_per_accepted",
    /// What all answers cost, for each that was accepted.
    CostPerAccepted "cost_per_accepted",
}

/// Where a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Not below.
    Min(f64),
    /// Not above.
    Max(f64),
}

impl Target {
    /// Whether a value is where it should be.
    pub fn is_met(self, value: f64) -> bool {
        match self {
            Self::Min(least) => value >= least,
            Self::Max(most) => value <= most,
        }
    }

    /// Whether a value is on the wrong side with certainty: all of its interval.
    pub fn is_missed(self, (low, high): (f64, f64)) -> bool {
        match self {
            Self::Min(least) => high < least,
            Self::Max(most) => low > most,
        }
    }
}

/// What a target can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// A share, at least or at most.
    Share,
    /// Seconds, at most.
    Seconds,
    /// None: the sums do not tell how sure such a figure is, so nobody could say that it is missed.
    None,
}

impl Figure {
    /// Where the source system wants it.
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

    /// Whether more of it is better.
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

    /// What a target of it can be.
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

    /// What it is in these sums.
    pub fn read(self, sums: &QualityBucket) -> Reading {
        let c = &sums.counts;
        let of = |part: i64, all: i64| Reading::Share(Rate::of(part, all));
        // A correction of an answer that nobody reported shows that there was one, and that it was wrong.
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
            Self::ErrorRate => of(c.failed, c.answered),
            Self::FeedbackCoverage => of(c.heard, c.turns),
            Self::Agreement => of(c.agree, c.both),
            Self::LatencyMedian => quantile(&sums.waits, 0.50),
            Self::LatencyTail => quantile(&sums.waits, 0.95),
            Self::TokensPerAccepted => Reading::Mean(c.tokens as f64, positive(c.accepted)),
            Self::CostPerAccepted => Reading::Mean(c.cost as f64 / 1e9, positive(c.accepted)),
        }
    }
}

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// A share.
    Share(Rate),
    /// A sum, spread over so many.
    Mean(f64, u64),
    /// Seconds that a share of so many took at the most, and where that lies with 95% certainty.
    Seconds(Option<(f64, (f64, f64))>, u64),
}

impl Reading {
    /// The number; none of nothing.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Share(rate) => rate.value(),
            // Where nobody ever said what it took, it is not nothing that it takes.
            Self::Mean(sum, count) => (count > 0 && sum > 0.0).then(|| sum / count as f64),
            Self::Seconds(found, _) => found.map(|(seconds, _)| seconds),
        }
    }

    /// Where it lies with 95% certainty, as far as the sums tell.
    pub fn interval(self) -> Option<(f64, f64)> {
        match self {
            Self::Share(rate) => rate.interval(),
            Self::Mean(..) => None,
            Self::Seconds(found, _) => found.map(|(_, interval)| interval),
        }
    }

    /// What is divided; nothing for times.
    pub fn numerator(self) -> Option<f64> {
        match self {
            Self::Share(rate) => Some(rate.numerator as f64),
            Self::Mean(sum, _) => Some(sum),
            Self::Seconds(..) => None,
        }
    }

    /// By how many.
    pub fn denominator(self) -> u64 {
        match self {
            Self::Share(rate) => rate.denominator,
            Self::Mean(_, count) | Self::Seconds(_, count) => count,
        }
    }
}

fn positive(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// The time that a share of the answers took at the most. Its interval is that of the ranks between which
/// the share lies, by the normal approximation of the binomial.
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
    Reading::Seconds(Some((at(middle.ceil()), interval)), positive(count))
}

/// All stretches together.
pub fn total(buckets: &[QualityBucket]) -> QualityBucket {
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
        let found = figure.read(&QualityBucket { counts, ..QualityBucket::default() });
        (found.value(), found.numerator(), found.denominator())
    }

    #[test]
    fn figures_are_what_their_table_says() {
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
    fn of_nothing_every_figure_is_nothing() {
        for figure in Figure::ALL {
            let (value, _, denominator) = read(*figure, QualityCounts::default());
            assert_eq!((value, denominator), (None, 0), "{figure:?}");
        }
    }

    #[test]
    fn what_is_said_of_an_answer_that_nobody_reported_is_one_more_answer() {
        let loose = QualityCounts { loose_corrected: 2, ..QualityCounts::default() };
        assert_eq!(read(Figure::CorrectionRate, loose), (Some(1.0), Some(2.0), 2));
        assert_eq!(read(Figure::AccuracyRate, loose), (Some(0.0), Some(0.0), 2));
        assert_eq!(read(Figure::RejectionRate, loose), (None, Some(0.0), 0), "nobody rejected it");
        let both = QualityCounts { answered: 6, corrected: 1, wrong: 2, turns: 6, ..loose };
        assert_eq!(read(Figure::CorrectionRate, both), (Some(0.375), Some(3.0), 8));
        assert_eq!(read(Figure::AccuracyRate, both), (Some(0.5), Some(4.0), 8));
        let refined = QualityCounts { turns: 1, refined: 1, loose_refined: 3, ..loose };
        assert_eq!(read(Figure::RefinementRate, refined), (Some(1.0), Some(4.0), 4));
    }

    #[test]
    fn times_are_those_of_the_answers() {
        let waits = vec![(wait_step(100), 90), (wait_step(2000), 10)];
        let sums = QualityBucket { waits, ..QualityBucket::default() };
        let near = |figure: Figure, expected: f64| {
            let found = figure.read(&sums).value().unwrap();
            assert!((found - expected).abs() < 0.06 * expected, "{figure:?} {found}");
        };
        near(Figure::LatencyMedian, 0.1);
        near(Figure::LatencyTail, 2.0);
        let (low, high) = Figure::LatencyTail.read(&sums).interval().unwrap();
        assert!(low < 0.2 && high > 1.8, "{low} {high}");
    }

    #[test]
    fn a_target_is_missed_only_with_certainty() {
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
