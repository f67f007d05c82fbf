//! A quality metric as a card: value, confidence interval, target and change.

use askama::Template;
use engine::QualityBucket;
use engine::report::{Bounds, Figure, Reading, Target};

use crate::chart;
use crate::filter::Filter;
use crate::number_format::{
    count_noun, format_number, format_percent, format_points, format_seconds,
};

/// A metric's state relative to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetTone {
    Good,
    /// Off target, but the confidence interval includes the target.
    Unsure,
    /// Off target, and the confidence interval excludes the target.
    Bad,
    /// No target or no data.
    None,
}

impl TargetTone {
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Unsure => "unsure",
            Self::Bad => "bad",
            Self::None => "none",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Good => "on target",
            Self::Unsure => "off target, not significant",
            Self::Bad => "off target",
            Self::None => "",
        }
    }
}

#[derive(Clone, Debug, Template)]
#[template(path = "card.html")]
pub struct MetricCard {
    pub word: &'static str,
    pub name: &'static str,
    pub about: &'static str,
    pub value: String,
    pub interval: Option<String>,
    pub out_of: String,
    pub target: Option<String>,
    pub tone: TargetTone,
    pub change: Option<PeriodChange>,
    pub spark: String,
    /// The turns behind the metric; empty in the report file.
    pub link: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodChange {
    pub text: String,
    /// `better`, `worse` or `same`; `same` when the change is not significant.
    pub class: &'static str,
}

impl MetricCard {
    pub fn new(
        figure: Figure,
        series: &[Option<QualityBucket>],
        now: &QualityBucket,
        before: &QualityBucket,
        target: Option<Target>,
        filter: &Filter,
    ) -> Self {
        let found = figure.compute(now);
        let values = trend_values(figure, series);
        let bound = target.map(|target| match target {
            Target::Min(bound) | Target::Max(bound) => bound,
        });
        Self {
            word: figure.as_word(),
            name: metric_name(figure),
            about: metric_description(figure),
            value: found
                .value()
                .map_or_else(|| "–".to_owned(), |value| format_value(figure, value)),
            interval: found.interval().map(|(low, high)| format_interval(figure, low, high)),
            out_of: describe_denominator(figure, found),
            target: target.map(|target| format_target(figure, target)),
            tone: target_tone(found, target),
            change: compute_change(figure, found, figure.compute(before)),
            spark: chart::draw_sparkline(&values, bound),
            link: filter.link_with("/conversations", &[("show", turn_filter(figure))]),
        }
    }
}

/// Values of the sparkline. Buckets with less than a tenth of the median count are left out,
/// because their values are mostly noise.
fn trend_values(figure: Figure, series: &[Option<QualityBucket>]) -> Vec<Option<f64>> {
    let read = |bucket: &Option<QualityBucket>| bucket.as_ref().map(|found| figure.compute(found));
    let readings: Vec<Option<Reading>> = series.iter().map(read).collect();
    let counts = readings.iter().flatten().map(|found| found.denominator());
    let mut counts: Vec<u64> = counts.filter(|count| *count > 0).collect();
    counts.sort_unstable();
    let usual = counts.get(counts.len() / 2).copied().unwrap_or(0);
    let has_enough = |found: &Reading| found.denominator() * 10 >= usual;
    readings.into_iter().map(|found| found.filter(has_enough)?.value()).collect()
}

pub(crate) fn format_value(figure: Figure, value: f64) -> String {
    match figure.bounds() {
        Bounds::Share => format_percent(value),
        Bounds::Seconds => format_seconds(value),
        Bounds::None => format_number(value),
    }
}

pub(crate) fn format_interval(figure: Figure, low: f64, high: f64) -> String {
    match figure.bounds() {
        Bounds::Share => format!("{:.1}–{:.1}%", low * 100.0, high * 100.0),
        Bounds::Seconds | Bounds::None => {
            format!("{}–{}", format_value(figure, low), format_value(figure, high))
        }
    }
}

fn format_target(figure: Figure, target: Target) -> String {
    let bound = |sign: &str, bound: f64| match figure.bounds() {
        Bounds::Share => format!("{sign} {}%", (bound * 1000.0).round() / 10.0),
        Bounds::Seconds | Bounds::None => format!("{sign} {}", format_value(figure, bound)),
    };
    match target {
        Target::Min(least) => bound("≥", least),
        Target::Max(most) => bound("≤", most),
    }
}

pub(crate) fn target_tone(found: Reading, target: Option<Target>) -> TargetTone {
    let (Some(target), Some(value)) = (target, found.value()) else { return TargetTone::None };
    if target.is_met(value) {
        return TargetTone::Good;
    }
    match found.interval() {
        Some(interval) if target.is_missed(interval) => TargetTone::Bad,
        Some(_) | None => TargetTone::Unsure,
    }
}

fn compute_change(figure: Figure, now: Reading, before: Reading) -> Option<PeriodChange> {
    let difference = now.value()? - before.value()?;
    let (text, sure) = match (now, before) {
        (Reading::Share(one), Reading::Share(other)) => {
            let (difference, (low, high)) = one.difference_to(other)?;
            (format_points(difference), low > 0.0 || high < 0.0)
        }
        (Reading::Seconds(..) | Reading::Mean(..) | Reading::Share(_), _) => {
            let apart = |one: (f64, f64), other: (f64, f64)| one.1 < other.0 || other.1 < one.0;
            let sure = now.interval().zip(before.interval()).is_some_and(|(a, b)| apart(a, b));
            let sign = if difference < 0.0 { "−" } else { "+" };
            (format!("{sign}{}", format_value(figure, difference.abs())), sure)
        }
    };
    let better = (difference > 0.0) == figure.more_is_better();
    let class = match (sure, better) {
        (false, _) => "same",
        (true, true) => "better",
        (true, false) => "worse",
    };
    Some(PeriodChange { text, class })
}

/// The denominator with its unit, such as "120 answers".
pub(crate) fn describe_denominator(figure: Figure, found: Reading) -> String {
    let (one, many) = match figure {
        Figure::Satisfaction => ("reaction", "reactions"),
        Figure::SqlAccuracy => ("statement", "statements"),
        Figure::AbandonmentRate => ("ended session", "ended sessions"),
        Figure::RefinementRate | Figure::RetryRate => ("question", "questions"),
        Figure::FeedbackCoverage => ("turn", "turns"),
        Figure::Agreement => ("turn judged by both", "turns judged by both"),
        Figure::TokensPerAccepted | Figure::CostPerAccepted => {
            ("accepted answer", "accepted answers")
        }
        Figure::AccuracyRate
        | Figure::CorrectionRate
        | Figure::RejectionRate
        | Figure::ErrorRate
        | Figure::LatencyMedian
        | Figure::LatencyTail => ("answer", "answers"),
    };
    count_noun(found.denominator(), one, many)
}

pub(crate) fn metric_name(figure: Figure) -> &'static str {
    match figure {
        Figure::Satisfaction => "Satisfaction",
        Figure::AccuracyRate => "Accuracy",
        Figure::SqlAccuracy => "SQL success rate",
        Figure::CorrectionRate => "Correction rate",
        Figure::RefinementRate => "Refinement rate",
        Figure::AbandonmentRate => "Abandonment rate",
        Figure::RejectionRate => "Rejection rate",
        Figure::RetryRate => "Retry rate",
        Figure::ErrorRate => "Error rate",
        Figure::FeedbackCoverage => "Feedback coverage",
        Figure::Agreement => "User–detector agreement",
        Figure::LatencyMedian => "Latency (median)",
        Figure::LatencyTail => "Latency (95th percentile)",
        Figure::TokensPerAccepted => "Tokens per accepted answer",
        Figure::CostPerAccepted => "Cost per accepted answer",
    }
}

pub(crate) fn metric_description(figure: Figure) -> &'static str {
    match figure {
        Figure::Satisfaction => {
            "Thumbs up as a share of all user reactions, by the time of the turn"
        }
        Figure::AccuracyRate => "Answers neither corrected nor rejected",
        Figure::SqlAccuracy => {
            "Generated SQL statements with a known outcome that ran without an error"
        }
        Figure::CorrectionRate => "Answers that were corrected",
        Figure::RefinementRate => "Questions that refine an earlier one",
        Figure::AbandonmentRate => "Sessions that ended without use of the last answer",
        Figure::RejectionRate => "Answers rejected by a rating or a later message",
        Figure::RetryRate => "Questions asked more than once",
        Figure::ErrorRate => {
            "Answers that failed: errors, refusals, empty, truncated or looping answers, wrong language"
        }
        Figure::FeedbackCoverage => "Turns with at least one human signal",
        Figure::Agreement => "Turns where user and detector reach the same verdict",
        Figure::LatencyMedian => "Half of the answers were at least this fast",
        Figure::LatencyTail => "95% of the answers were at least this fast",
        Figure::TokensPerAccepted => "All tokens divided by accepted answers",
        Figure::CostPerAccepted => "Total cost divided by accepted answers",
    }
}

/// The `show` value of the conversation list that lists the metric's turns.
pub(crate) fn turn_filter(figure: Figure) -> &'static str {
    match figure {
        Figure::Satisfaction => "reacted",
        Figure::AccuracyRate => "wrong",
        Figure::SqlAccuracy => "all",
        Figure::CorrectionRate => "corrected",
        Figure::RefinementRate => "refined",
        Figure::AbandonmentRate => "abandoned",
        Figure::RejectionRate => "rejected",
        Figure::RetryRate => "retried",
        Figure::ErrorRate => "failed",
        Figure::FeedbackCoverage => "heard",
        Figure::Agreement => "disagreed",
        Figure::LatencyMedian | Figure::LatencyTail => "slow",
        Figure::TokensPerAccepted | Figure::CostPerAccepted => "accepted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::report::Rate;

    #[test]
    fn target_is_missed_only_when_the_interval_excludes_it() {
        let share = |part, all| Reading::Share(Rate::from_counts(part, all));
        let target = Some(Target::Min(0.85));
        assert_eq!(target_tone(share(90, 100), target), TargetTone::Good);
        assert_eq!(target_tone(share(8, 10), target), TargetTone::Unsure);
        assert_eq!(target_tone(share(50, 100), target), TargetTone::Bad);
        assert_eq!(target_tone(share(0, 0), target), TargetTone::None);
        assert_eq!(target_tone(share(5, 10), None), TargetTone::None);
    }

    #[test]
    fn change_is_coloured_only_when_significant() {
        let share = |part, all| Reading::Share(Rate::from_counts(part, all));
        let of = |figure, now, before| compute_change(figure, now, before).map(|found| found.class);
        let up = (share(90, 100), share(50, 100));
        assert_eq!(of(Figure::Satisfaction, up.0, up.1), Some("better"));
        assert_eq!(of(Figure::ErrorRate, up.0, up.1), Some("worse"));
        assert_eq!(of(Figure::ErrorRate, share(6, 10), share(5, 10)), Some("same"));
        assert_eq!(of(Figure::ErrorRate, share(0, 0), share(5, 10)), None);
    }
}
