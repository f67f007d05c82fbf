//! A figure of quality as a card: what it is, how sure, against its target, against before.

use askama::Template;
use engine::QualityBucket;
use report::{Bounds, Figure, Reading, Target};

use crate::chart;
use crate::filter::Filter;
use crate::number;

/// How a figure stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Where it should be.
    Good,
    /// Not where it should be, and it might be chance.
    Unsure,
    /// Not where it should be, with certainty.
    Bad,
    /// There is no target, or nothing was counted.
    None,
}

impl Tone {
    /// The class that shows it.
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Unsure => "unsure",
            Self::Bad => "bad",
            Self::None => "none",
        }
    }

    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Good => "on target",
            Self::Unsure => "off target, within chance",
            Self::Bad => "off target",
            Self::None => "",
        }
    }
}

/// A figure on the page.
#[derive(Clone, Debug, Template)]
#[template(path = "card.html")]
pub struct Card {
    /// Its word on the wire, for anchors.
    pub word: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// What it counts, in a sentence.
    pub about: &'static str,
    /// The number with its unit; a dash of nothing.
    pub value: String,
    /// Where it lies with 95% certainty.
    pub interval: Option<String>,
    /// Out of how many.
    pub out_of: String,
    /// Where it should be.
    pub target: Option<String>,
    /// How it stands.
    pub tone: Tone,
    /// What changed since the period before, and whether for the better.
    pub change: Option<Change>,
    /// The line of it.
    pub spark: String,
    /// The turns behind it; empty where nothing can be opened.
    pub link: String,
}

/// What changed against the period before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// How much, with its sign.
    pub text: String,
    /// `better`, `worse` or `same`: the last when it may be chance.
    pub class: &'static str,
}

impl Card {
    /// The card of a figure.
    pub fn of(
        figure: Figure,
        series: &[Option<QualityBucket>],
        now: &QualityBucket,
        before: &QualityBucket,
        target: Option<Target>,
        filter: &Filter,
    ) -> Self {
        let found = figure.compute(now);
        let values = trend(figure, series);
        let bound = target.map(|target| match target {
            Target::Min(bound) | Target::Max(bound) => bound,
        });
        Self {
            word: figure.as_word(),
            name: name(figure),
            about: about(figure),
            value: found.value().map_or_else(|| "–".to_owned(), |value| shown(figure, value)),
            interval: found.interval().map(|(low, high)| between(figure, low, high)),
            out_of: out_of(figure, found),
            target: target.map(|target| wanted(figure, target)),
            tone: tone(found, target),
            change: change(figure, found, figure.compute(before)),
            spark: chart::spark(&values, bound),
            link: filter.link_with("/conversations", &[("show", behind(figure))]),
        }
    }
}

/// Values for a line without words. A stretch with hardly anything in it, as the one that has just begun, would
/// be its highest peak and say nothing: it is left out.
fn trend(figure: Figure, series: &[Option<QualityBucket>]) -> Vec<Option<f64>> {
    let read = |bucket: &Option<QualityBucket>| bucket.as_ref().map(|found| figure.compute(found));
    let readings: Vec<Option<Reading>> = series.iter().map(read).collect();
    let counts = readings.iter().flatten().map(|found| found.denominator());
    let mut counts: Vec<u64> = counts.filter(|count| *count > 0).collect();
    counts.sort_unstable();
    let usual = counts.get(counts.len() / 2).copied().unwrap_or(0);
    let tells = |found: &Reading| found.denominator() * 10 >= usual;
    readings.into_iter().map(|found| found.filter(tells)?.value()).collect()
}

/// A value with its unit.
pub(crate) fn shown(figure: Figure, value: f64) -> String {
    match figure.bounds() {
        Bounds::Share => number::percent(value),
        Bounds::Seconds => number::seconds(value),
        Bounds::None => number::plain(value),
    }
}

/// Where a value lies, with its unit.
pub(crate) fn between(figure: Figure, low: f64, high: f64) -> String {
    match figure.bounds() {
        Bounds::Share => format!("{:.1}–{:.1}%", low * 100.0, high * 100.0),
        Bounds::Seconds | Bounds::None => {
            format!("{}–{}", shown(figure, low), shown(figure, high))
        }
    }
}

fn wanted(figure: Figure, target: Target) -> String {
    let bound = |sign: &str, bound: f64| match figure.bounds() {
        Bounds::Share => format!("{sign} {}%", (bound * 1000.0).round() / 10.0),
        Bounds::Seconds | Bounds::None => format!("{sign} {}", shown(figure, bound)),
    };
    match target {
        Target::Min(least) => bound("≥", least),
        Target::Max(most) => bound("≤", most),
    }
}

/// How a reading stands against a target.
pub(crate) fn tone(found: Reading, target: Option<Target>) -> Tone {
    let (Some(target), Some(value)) = (target, found.value()) else { return Tone::None };
    if target.is_met(value) {
        return Tone::Good;
    }
    match found.interval() {
        Some(interval) if target.is_missed(interval) => Tone::Bad,
        Some(_) | None => Tone::Unsure,
    }
}

fn change(figure: Figure, now: Reading, before: Reading) -> Option<Change> {
    let difference = now.value()? - before.value()?;
    let (text, sure) = match (now, before) {
        (Reading::Share(one), Reading::Share(other)) => {
            let (difference, (low, high)) = one.difference_to(other)?;
            (number::points(difference), low > 0.0 || high < 0.0)
        }
        (Reading::Seconds(..) | Reading::Mean(..) | Reading::Share(_), _) => {
            let apart = |one: (f64, f64), other: (f64, f64)| one.1 < other.0 || other.1 < one.0;
            let sure = now.interval().zip(before.interval()).is_some_and(|(a, b)| apart(a, b));
            let sign = if difference < 0.0 { "−" } else { "+" };
            (format!("{sign}{}", shown(figure, difference.abs())), sure)
        }
    };
    let better = (difference > 0.0) == figure.more_is_better();
    let class = match (sure, better) {
        (false, _) => "same",
        (true, true) => "better",
        (true, false) => "worse",
    };
    Some(Change { text, class })
}

/// Out of how many, in words.
pub(crate) fn out_of(figure: Figure, found: Reading) -> String {
    let many = found.denominator();
    let what = match figure {
        Figure::Satisfaction => number::of(many, "reaction", "reactions"),
        Figure::SqlAccuracy => number::of(many, "statement", "statements"),
        Figure::AbandonmentRate => number::of(many, "session that ended", "sessions that ended"),
        Figure::RefinementRate | Figure::RetryRate => number::of(many, "question", "questions"),
        Figure::FeedbackCoverage => number::of(many, "turn", "turns"),
        Figure::Agreement => number::of(many, "turn that both judged", "turns that both judged"),
        Figure::TokensPerAccepted | Figure::CostPerAccepted => {
            number::of(many, "accepted answer", "accepted answers")
        }
        Figure::AccuracyRate
        | Figure::CorrectionRate
        | Figure::RejectionRate
        | Figure::ErrorRate
        | Figure::LatencyMedian
        | Figure::LatencyTail => number::of(many, "answer", "answers"),
    };
    format!("{} {what}", number::count(many))
}

/// What people call it.
pub(crate) fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::Satisfaction => "Satisfaction",
        Figure::AccuracyRate => "Accuracy",
        Figure::SqlAccuracy => "SQL execution",
        Figure::CorrectionRate => "Corrections",
        Figure::RefinementRate => "Refinements",
        Figure::AbandonmentRate => "Abandonment",
        Figure::RejectionRate => "Rejections",
        Figure::RetryRate => "Retries",
        Figure::ErrorRate => "Errors",
        Figure::FeedbackCoverage => "Feedback coverage",
        Figure::Agreement => "User and machine agree",
        Figure::LatencyMedian => "Latency, median",
        Figure::LatencyTail => "Latency, 95th percentile",
        Figure::TokensPerAccepted => "Tokens per accepted answer",
        Figure::CostPerAccepted => "Cost per accepted answer",
    }
}

/// What it counts, in a sentence.
pub(crate) fn about(figure: Figure) -> &'static str {
    match figure {
        Figure::Satisfaction => "Good reactions of users, of all they gave",
        Figure::AccuracyRate => "Answers that nobody corrected or rejected",
        Figure::SqlAccuracy => "Generated statements that ran without an error",
        Figure::CorrectionRate => "Answers that somebody corrected",
        Figure::RefinementRate => "Questions that narrow down an earlier one",
        Figure::AbandonmentRate => "Sessions left without any use of the last answer",
        Figure::RejectionRate => "Answers that users rejected, said or shown",
        Figure::RetryRate => "Questions that were asked again",
        Figure::ErrorRate => "Answers that failed: errors, refusals, nothing",
        Figure::FeedbackCoverage => "Turns of which a person gave any sign",
        Figure::Agreement => "Where user and machine judged, both said the same",
        Figure::LatencyMedian => "Half of the answers took no longer",
        Figure::LatencyTail => "19 of 20 answers took no longer",
        Figure::TokensPerAccepted => "All tokens, spread over accepted answers",
        Figure::CostPerAccepted => "All cost, spread over accepted answers",
    }
}

/// Which turns are behind a figure: what `show` says on the list of conversations.
pub(crate) fn behind(figure: Figure) -> &'static str {
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
    use report::Rate;

    #[test]
    fn a_target_is_missed_when_the_interval_says_so() {
        let share = |part, all| Reading::Share(Rate::from_counts(part, all));
        let target = Some(Target::Min(0.85));
        assert_eq!(tone(share(90, 100), target), Tone::Good);
        assert_eq!(tone(share(8, 10), target), Tone::Unsure);
        assert_eq!(tone(share(50, 100), target), Tone::Bad);
        assert_eq!(tone(share(0, 0), target), Tone::None);
        assert_eq!(tone(share(5, 10), None), Tone::None);
    }

    #[test]
    fn a_change_is_good_or_bad_only_with_certainty() {
        let share = |part, all| Reading::Share(Rate::from_counts(part, all));
        let of = |figure, now, before| change(figure, now, before).map(|found| found.class);
        let up = (share(90, 100), share(50, 100));
        assert_eq!(of(Figure::Satisfaction, up.0, up.1), Some("better"));
        assert_eq!(of(Figure::ErrorRate, up.0, up.1), Some("worse"));
        assert_eq!(of(Figure::ErrorRate, share(6, 10), share(5, 10)), Some("same"));
        assert_eq!(of(Figure::ErrorRate, share(0, 0), share(5, 10)), None);
    }
}
