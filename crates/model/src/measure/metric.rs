//! What an experiment can be judged by, and what its mean is taken over.

use serde::{Deserialize, Serialize};

use crate::feedback::BadData;

/// A metric of turns. Its word is the same in JSON, in events and on pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Metric {
    /// Share of rated turns that were found good.
    Satisfaction,
    /// Share of turns that failed.
    ErrorRate,
    /// Share of answers that the next message rejects.
    RejectionRate,
    /// Share of answers that were corrected.
    CorrectionRate,
    /// Share of questions that were asked again.
    RetryRate,
    /// What a turn is worth, 0 to 1.
    Reward,
    /// Seconds to the answer.
    Latency,
    /// What a turn costs.
    Cost,
    /// What a validator says of the answer, 0 to 1.
    QualityScore,
}

/// What a mean is taken over. The variance is always by unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricBy {
    /// Every turn counts the same: a unit with many turns counts more.
    #[default]
    Turn,
    /// Every unit counts the same.
    Unit,
}

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

impl Metric {
    /// All there are.
    pub const ALL: [Self; 9] = [
        Self::Satisfaction,
        Self::ErrorRate,
        Self::RejectionRate,
        Self::CorrectionRate,
        Self::RetryRate,
        Self::Reward,
        Self::Latency,
        Self::Cost,
        Self::QualityScore,
    ];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Satisfaction => "satisfaction",
            Self::ErrorRate => "error_rate",
            Self::RejectionRate => "rejection_rate",
            Self::CorrectionRate => "correction_rate",
            Self::RetryRate => "retry_rate",
            Self::Reward => "reward",
            Self::Latency => "latency",
            Self::Cost => "cost",
            Self::QualityScore => "quality_score",
        }
    }

    /// The metric that a word names; the error lists all of them.
    pub fn from_word(word: &str) -> Result<Self, BadData> {
        Self::ALL.into_iter().find(|metric| metric.word() == word).ok_or_else(|| {
            let words: Vec<&str> = Self::ALL.into_iter().map(Self::word).collect();
            let shown: String = word.chars().take(60).collect();
            BadData {
                field: "metric".to_owned(),
                got: format!("{shown:?}"),
                expected: format!("one of {}", words.join(", ")),
            }
        })
    }

    /// Which way is good.
    pub fn direction(self) -> Direction {
        match self {
            Self::Satisfaction | Self::Reward | Self::QualityScore => Direction::Higher,
            Self::ErrorRate
            | Self::RejectionRate
            | Self::CorrectionRate
            | Self::RetryRate
            | Self::Latency
            | Self::Cost => Direction::Lower,
        }
    }

    /// A number of this metric turned so that more is better.
    pub fn gain(self, value: f64) -> f64 {
        match self.direction() {
            Direction::Higher => value,
            Direction::Lower => -value,
        }
    }

    /// Whether one turn gives a number from 0 to 1.
    pub fn is_share(self) -> bool {
        match self {
            Self::Satisfaction
            | Self::ErrorRate
            | Self::RejectionRate
            | Self::CorrectionRate
            | Self::RetryRate
            | Self::Reward
            | Self::QualityScore => true,
            Self::Latency | Self::Cost => false,
        }
    }
}

impl TryFrom<String> for Metric {
    type Error = BadData;

    fn try_from(word: String) -> Result<Self, BadData> {
        Self::from_word(&word)
    }
}

impl From<Metric> for &'static str {
    fn from(metric: Metric) -> Self {
        metric.word()
    }
}
