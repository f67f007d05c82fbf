//! SVG charts. Labels are HTML text outside the SVG, so that they do not scale with it. Every chart
//! comes with a table of its values.

mod axis;

use std::fmt::Write;

use askama::Template;

use crate::display_time::DisplayTime;
use axis::finite_bounds;

pub use axis::AxisRange;

/// Internal size of the drawing; CSS stretches it.
pub(crate) const WIDTH: f64 = 600.0;
pub(crate) const HEIGHT: f64 = 160.0;

/// A value on the x axis with its 95% confidence interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartPoint {
    pub value: Option<f64>,
    pub interval: Option<(f64, f64)>,
    pub tooltip: String,
}

/// A chart with its axis labels and table.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "chart.html")]
pub struct Chart {
    pub title: String,
    pub summary: String,
    pub levels: Vec<String>,
    pub ends: Option<(DisplayTime, DisplayTime)>,
    pub svg: String,
    pub columns: Vec<&'static str>,
    pub more_columns: Vec<String>,
    pub rows: Vec<(DisplayTime, Vec<String>)>,
}

/// Draws a line with its confidence band and an optional target line.
pub(crate) fn draw_line_chart(
    points: &[ChartPoint],
    range: AxisRange,
    target: Option<f64>,
    lines: u32,
    label: &str,
) -> String {
    let mut svg = open_svg(label);
    draw_grid(&mut svg, range, lines);
    draw_band(&mut svg, points, range);
    draw_target(&mut svg, target, range);
    draw_polyline(&mut svg, points, range, "line");
    draw_hovers(&mut svg, points);
    svg.push_str("</svg>");
    svg
}

pub(crate) fn draw_bar_chart(
    bars: &[(Vec<f64>, String)],
    range: AxisRange,
    lines: u32,
    label: &str,
) -> String {
    let mut svg = open_svg(label);
    draw_grid(&mut svg, range, lines);
    let slot = WIDTH / bars.len().max(1) as f64;
    for (place, (parts, tooltip)) in bars.iter().enumerate() {
        let x = place as f64 * slot + slot * 0.14;
        let mut below = 0.0;
        let _ = write!(svg, r#"<g class="column"><title>{}</title>"#, escape_html(tooltip));
        let _ = write!(
            svg,
            r#"<path class="hover" d="M{:.2} 0h{slot:.2}v{HEIGHT}h-{slot:.2}z"/>"#,
            place as f64 * slot
        );
        for (part, value) in parts.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let (bottom, top) = (range.y_position(below), range.y_position(below + value));
            let (width, height) = (slot * 0.72, bottom - top);
            let _ = write!(
                svg,
                r#"<rect class="bar part-{part}" x="{x:.2}" y="{top:.2}" width="{width:.2}" height="{height:.2}"/>"#
            );
            below += value;
        }
        svg.push_str("</g>");
    }
    svg.push_str("</svg>");
    svg
}

/// Draws a small line without labels.
pub(crate) fn draw_sparkline(values: &[Option<f64>], target: Option<f64>) -> String {
    let range = {
        let known = values.iter().copied().flatten().chain(target);
        let (low, high) = finite_bounds(known);
        let room = if high > low { (high - low) * 0.12 } else { high.abs().max(1.0) * 0.1 };
        if low > high {
            AxisRange { low: 0.0, high: 1.0 }
        } else {
            AxisRange { low: low - room, high: high + room }
        }
    };
    // A sparkline shows the trend, so it connects across empty buckets.
    let known = values.iter().copied().flatten();
    let points: Vec<ChartPoint> =
        known.map(|value| ChartPoint { value: Some(value), ..ChartPoint::default() }).collect();
    let mut svg = format!(
        r#"<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">"#
    );
    draw_target(&mut svg, target, range);
    draw_polyline(&mut svg, &points, range, "line");
    svg.push_str("</svg>");
    svg
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Whisker {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub tooltip: String,
}

/// Draws one row per estimate on an axis from `-reach` to `reach`.
pub(crate) fn draw_whiskers(whiskers: &[Whisker], reach: f64, label: &str) -> String {
    let height = 26.0 * whiskers.len().max(1) as f64;
    let mut svg = format!(
        r#"<svg class="whiskers" viewBox="0 0 {WIDTH} {height}" height="{height}" preserveAspectRatio="none" role="img" aria-label="{}" focusable="false">"#,
        escape_html(label)
    );
    let x = |value: f64| (value / reach).clamp(-1.0, 1.0) * WIDTH / 2.0 + WIDTH / 2.0;
    let middle = WIDTH / 2.0;
    let _ = write!(svg, r#"<path class="target" d="M{middle} 0V{height}"/>"#);
    for (place, one) in whiskers.iter().enumerate() {
        let y = 26.0 * place as f64 + 13.0;
        let (low, high, at) = (x(one.low), x(one.high), x(one.value));
        let _ = write!(
            svg,
            r#"<g class="column"><title>{}</title><path class="whisker" d="M{low:.1} {y}H{high:.1}"/><path class="line dot" d="M{at:.1} {y}h0.01"/></g>"#,
            escape_html(&one.tooltip)
        );
    }
    svg.push_str("</svg>");
    svg
}

/// Draws observed shares against predicted probabilities, with the ideal diagonal.
pub(crate) fn draw_reliability(points: &[ChartPoint], range: AxisRange, label: &str) -> String {
    let mut svg = open_svg(label);
    draw_grid(&mut svg, range, 3);
    let _ = write!(svg, r#"<path class="diagonal" d="M0 {HEIGHT}L{WIDTH} 0"/>"#);
    draw_band(&mut svg, points, range);
    draw_polyline(&mut svg, points, range, "line");
    draw_hovers(&mut svg, points);
    svg.push_str("</svg>");
    svg
}

pub(crate) fn open_svg(label: &str) -> String {
    format!(
        r#"<svg class="chart-marks" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{}" focusable="false">"#,
        escape_html(label)
    )
}

fn draw_grid(svg: &mut String, range: AxisRange, lines: u32) {
    for level in range.levels(lines) {
        let _ =
            write!(svg, r#"<path class="grid" d="M0 {:.1}H{WIDTH}"/>"#, range.y_position(level));
    }
}

fn draw_target(svg: &mut String, target: Option<f64>, range: AxisRange) {
    if let Some(target) = target {
        let y = range.y_position(target);
        let _ = write!(svg, r#"<path class="target" d="M0 {y:.1}H{WIDTH}"/>"#);
    }
}

/// X coordinate of the middle of a slot.
fn slot_center(place: usize, all: usize) -> f64 {
    (place as f64 + 0.5) * WIDTH / all.max(1) as f64
}

/// X coordinate, value and confidence interval.
type PlottedPoint = (f64, f64, (f64, f64));

/// Runs of consecutive points that have a value.
fn contiguous_runs(points: &[ChartPoint]) -> Vec<Vec<PlottedPoint>> {
    let mut found = vec![Vec::new()];
    for (place, point) in points.iter().enumerate() {
        match (point.value, found.last_mut()) {
            (Some(value), Some(run)) => {
                let interval = point.interval.unwrap_or((value, value));
                run.push((slot_center(place, points.len()), value, interval));
            }
            (None, Some(run)) if !run.is_empty() => found.push(Vec::new()),
            (None, Some(_)) | (_, None) => {}
        }
    }
    found.retain(|run| !run.is_empty());
    found
}

fn draw_band(svg: &mut String, points: &[ChartPoint], range: AxisRange) {
    // A value without an interval gets a line but no band.
    let bounded =
        |point: &ChartPoint| ChartPoint { value: point.interval.and(point.value), ..point.clone() };
    let points: Vec<ChartPoint> = points.iter().map(bounded).collect();
    for run in contiguous_runs(&points).iter().filter(|run| run.len() > 1) {
        let high = run.iter().map(|(x, _, (_, high))| (*x, range.y_position(*high)));
        let low = run.iter().rev().map(|(x, _, (low, _))| (*x, range.y_position(*low)));
        let _ = write!(svg, r#"<path class="band" d="{}z"/>"#, path_data(high.chain(low)));
    }
}

/// An SVG path of straight lines through the points.
pub(crate) fn path_data(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (place, (x, y)) in points.enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if place == 0 { 'M' } else { 'L' });
    }
    path
}

fn draw_polyline(svg: &mut String, points: &[ChartPoint], range: AxisRange, class: &str) {
    for run in contiguous_runs(points) {
        let mut path = path_data(run.iter().map(|(x, value, _)| (*x, range.y_position(*value))));
        // A zero-length stroke with round caps stays a circle when the SVG is stretched.
        if run.len() == 1 {
            path.push_str("h0.01");
        }
        let _ = write!(svg, r#"<path class="{class}" d="{path}"/>"#);
        if let Some((x, value, _)) = run.last() {
            let _ = write!(
                svg,
                r#"<path class="{class} dot" d="M{x:.1} {:.1}h0.01"/>"#,
                range.y_position(*value)
            );
        }
    }
}

fn draw_hovers(svg: &mut String, points: &[ChartPoint]) {
    let slot = WIDTH / points.len().max(1) as f64;
    for (place, point) in points.iter().enumerate().filter(|(_, point)| !point.tooltip.is_empty()) {
        let left = place as f64 * slot;
        let _ = write!(
            svg,
            r#"<g class="column"><title>{}</title><path class="hover" d="M{left:.2} 0h{slot:.2}v{HEIGHT}h-{slot:.2}z"/></g>"#,
            escape_html(&point.tooltip)
        );
    }
}

pub(crate) fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(value: Option<f64>) -> ChartPoint {
        ChartPoint { value, interval: value.map(|v| (v - 0.1, v + 0.1)), tooltip: "a <b>".into() }
    }

    #[test]
    fn missing_value_breaks_the_line() {
        let points = [point(Some(0.5)), point(Some(0.6)), point(None), point(Some(0.7))];
        let svg = draw_line_chart(&points, AxisRange { low: 0.0, high: 1.0 }, Some(0.85), 3, "x");
        assert_eq!(svg.matches(r#"class="line""#).count(), 2);
        assert_eq!(svg.matches(r#"class="band""#).count(), 1, "one point has no band");
        assert!(svg.contains("a &lt;b&gt;") && !svg.contains("<b>"));
        assert!(svg.contains(r#"class="target" d="M0 24.0H600""#), "{svg}");
    }

    #[test]
    fn value_without_interval_has_no_band() {
        let bare = ChartPoint { value: Some(0.5), ..ChartPoint::default() };
        let points = [bare.clone(), bare, point(Some(0.6)), point(Some(0.7))];
        let svg = draw_line_chart(&points, AxisRange { low: 0.0, high: 1.0 }, None, 3, "x");
        assert_eq!(svg.matches(r#"class="line""#).count(), 1);
        assert!(svg.contains(r#"class="band" d="M375.0"#), "from the third point on: {svg}");
    }

    #[test]
    fn empty_input_draws_no_marks() {
        assert!(!draw_sparkline(&[None, None], None).contains("<path"));
        assert!(!draw_bar_chart(&[], AxisRange { low: 0.0, high: 1.0 }, 2, "x").contains("<rect"));
    }
}
