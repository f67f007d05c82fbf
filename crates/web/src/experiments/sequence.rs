//! How a difference and its interval came about, day by day.

use engine::SequencePoint;
use engine::experiment::{DifferenceEstimate, ExperimentResults, Metric, VariantComparison};
use model::Timestamp;

use super::{more, p};
use crate::chart::{self, Chart, Point, Range};
use crate::moment::{Moment, Shown};

/// For each treatment, from the first day on which there was a difference.
pub(super) fn sequences(
    metric: Metric,
    results: &ExperimentResults,
    days: &[SequencePoint],
) -> Vec<(String, Chart)> {
    let one = |treatment: &VariantComparison| {
        let known = |day: &SequencePoint| {
            let found = day.comparisons.iter().find(|one| one.variant == treatment.variant)?;
            Some((day.day, found.cuped.or(found.difference)?))
        };
        let known: Vec<(Timestamp, DifferenceEstimate)> = days.iter().filter_map(known).collect();
        (known.len() > 1).then(|| (treatment.variant.clone(), sequence(metric, &known)))
    };
    results.comparisons.iter().filter_map(one).collect()
}

/// Where a difference lies, once that can be believed.
fn believed(found: &DifferenceEstimate) -> Option<(f64, f64)> {
    found.anytime_valid.then_some(found.interval.into())
}

fn sequence(metric: Metric, days: &[(Timestamp, DifferenceEstimate)]) -> Chart {
    let told = |found: &DifferenceEstimate| match believed(found) {
        Some((low, high)) => format!("{} to {}", more(metric, low), more(metric, high)),
        None => "too few units".to_owned(),
    };
    let moment = |ts: Timestamp| Moment::of(ts, Shown::Day);
    let range = around_nothing(days);
    let points = days.iter().map(|(ts, found)| Point {
        value: Some(found.estimate),
        interval: believed(found),
        told: format!("{}: {} ({})", moment(*ts).text, more(metric, found.estimate), told(found)),
    });
    let points: Vec<Point> = points.collect();
    let rows = days.iter().map(|(ts, found)| {
        let cells = vec![more(metric, found.estimate), told(found), p(found.p_always_valid)];
        (moment(*ts), cells)
    });
    let level = |at: f64| if at == 0.0 { "0".to_owned() } else { more(metric, at) };
    let summary = "The difference from the control at the end of each day, with the interval that holds at every look; the dashed line is no difference".to_owned();
    Chart {
        title: "Difference over time".to_owned(),
        svg: chart::line(&points, range, Some(0.0), 3, &summary),
        levels: range.levels(3).into_iter().map(level).collect(),
        ends: days.first().zip(days.last()).map(|(first, last)| (moment(first.0), moment(last.0))),
        more_columns: Vec::new(),
        columns: vec!["Day", "Difference", "Holds at every look", "p, always valid"],
        rows: rows.collect(),
        summary,
    }
}

/// The first intervals are wide: the axis ends where the last ones do, and a bit further.
fn around_nothing(days: &[(Timestamp, DifferenceEstimate)]) -> Range {
    let size = |found: &DifferenceEstimate| {
        let (low, high) = believed(found).unwrap_or((found.estimate, found.estimate));
        low.abs().max(high.abs())
    };
    let last = days.last().map_or(1.0, |(_, found)| size(found));
    let widest = days.iter().map(|(_, found)| size(found)).fold(last, f64::max);
    let reach = if last > 0.0 { widest.min(last * 2.0) } else { widest };
    let reach = if reach > 0.0 { reach } else { 1.0 };
    Range { low: -reach, high: reach }
}
