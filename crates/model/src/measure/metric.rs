//! Metrics of experiments and their denominators.

use serde::{Deserialize, Serialize};

use crate::body::BadData;

/// A metric of turns. Its name is the same in JSON, events and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Metric {
    /// Share of rated turns that were liked.
    Satisfaction,
    /// Share of failed turns.
    ErrorRate,
    /// Share of answers rejected by the next message.
    RejectionRate,
    /// Share of corrected answers.
    CorrectionRate,
    /// Share of repeated questions.
    RetryRate,
    /// Reward of a turn, 0 to 1.
    Reward,
    /// Seconds to the answer.
    Latency,
    /// Cost of a turn.
    Cost,
    /// Validator score of an answer, 0 to 1.
    QualityScore,
}

/// The denominator of a mean. The variance is always by unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricBy {
    /// Turns weigh equally, so units with many turns weigh more.
    #[default]
    Turn,
    /// Units weigh equally.
    Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Higher,
    Lower,
}

impl Metric {
    pub const ALL_METRICS: [Self; 9] = [
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

    /// Parses a metric's name. The error lists all names.
    pub fn from_word(word: &str) -> Result<Self, BadData> {
        Self::ALL_METRICS.into_iter().find(|metric| metric.word() == word).ok_or_else(|| {
            let words: Vec<&str> = Self::ALL_METRICS.into_iter().map(Self::word).collect();
            let shown: String = word.chars().take(60).collect();
            BadData {
                field: "metric".to_owned(),
                got: format!("{shown:?}"),
                expected: format!("one of {}", words.join(", ")),
            }
        })
    }

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

    /// The value with its sign set so that more is better.
    pub fn gain(self, value: f64) -> f64 {
        match self.direction() {
            Direction::Higher => value,
            Direction::Lower => -value,
        }
    }

    /// True when a turn's value lies between 0 and 1.
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
