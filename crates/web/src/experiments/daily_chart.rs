//! Daily charts of an experiment's differences and confidence intervals.

use engine::SequencePoint;
use engine::experiment::{DifferenceEstimate, ExperimentResults, Metric, VariantComparison};
use model::Timestamp;

use super::{format_difference, format_differences, format_p_value};
use crate::chart::{self, AxisRange, Chart, ChartPoint};
use crate::display_time::{DisplayTime, TimePrecision};

/// One chart per treatment, starting on the first day with a difference.
pub(super) fn daily_charts(
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
        (known.len() > 1).then(|| (treatment.variant.clone(), daily_chart(metric, &known)))
    };
    results.comparisons.iter().filter_map(one).collect()
}

/// The interval, once it is anytime-valid.
fn valid_interval(found: &DifferenceEstimate) -> Option<(f64, f64)> {
    found.anytime_valid.then_some(found.interval.into())
}

fn daily_chart(metric: Metric, days: &[(Timestamp, DifferenceEstimate)]) -> Chart {
    let interval_text = |found: &DifferenceEstimate| match valid_interval(found) {
        Some((low, high)) => format_differences(metric, [low, high]),
        None => "too few units".to_owned(),
    };
    let moment = |ts: Timestamp| DisplayTime::new(ts, TimePrecision::Day);
    let range = symmetric_range(days);
    let points = days.iter().map(|(ts, found)| ChartPoint {
        value: Some(found.estimate),
        interval: valid_interval(found),
        tooltip: format!(
            "{}: {} ({})",
            moment(*ts).text,
            format_difference(metric, found.estimate),
            interval_text(found)
        ),
    });
    let points: Vec<ChartPoint> = points.collect();
    let rows = days.iter().map(|(ts, found)| {
        let cells = vec![
            format_difference(metric, found.estimate),
            interval_text(found),
            format_p_value(found.p_always_valid),
        ];
        (moment(*ts), cells)
    });
    let level = |at: f64| if at == 0.0 { "0".to_owned() } else { format_difference(metric, at) };
    let summary = "Difference from the control at the end of each day, with its anytime-valid confidence interval; the dashed line marks no difference".to_owned();
    Chart {
        title: "Difference over time".to_owned(),
        svg: chart::draw_line_chart(&points, range, Some(0.0), 3, &summary),
        levels: range.levels(3).into_iter().map(level).collect(),
        ends: days.first().zip(days.last()).map(|(first, last)| (moment(first.0), moment(last.0))),
        more_columns: Vec::new(),
        columns: vec!["Day", "Difference", "Anytime-valid CI", "Anytime-valid p"],
        rows: rows.collect(),
        summary,
    }
}

/// Early intervals are very wide, so the last one determines the axis range.
fn symmetric_range(days: &[(Timestamp, DifferenceEstimate)]) -> AxisRange {
    let size = |found: &DifferenceEstimate| {
        let (low, high) = valid_interval(found).unwrap_or((found.estimate, found.estimate));
        low.abs().max(high.abs())
    };
    let last = days.last().map_or(1.0, |(_, found)| size(found));
    let widest = days.iter().map(|(_, found)| size(found)).fold(last, f64::max);
    let reach = if last > 0.0 { widest.min(last * 2.0) } else { widest };
    let reach = if reach > 0.0 { reach } else { 1.0 };
    AxisRange { low: -reach, high: reach }
}
