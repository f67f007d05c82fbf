//! Charts as SVG. Only marks are drawn: labels are text beside them, so that they stay readable at any size, and
//! every chart has its table.

mod range;

use std::fmt::Write;

use askama::Template;

use crate::moment::Moment;
use range::ends;

pub use range::Range;

/// The drawing's own size; it is stretched to the place it gets.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 160.0;

/// A value at a place, with where it lies with 95% certainty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// The value; nothing where nothing was counted.
    pub value: Option<f64>,
    /// Where it lies.
    pub interval: Option<(f64, f64)>,
    /// What is said of it.
    pub told: String,
}

/// A chart with all that is around it.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "chart.html")]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What it says, for those who do not see it.
    pub summary: String,
    /// Labels of the vertical axis, from the top.
    pub levels: Vec<String>,
    /// The first and the last moment.
    pub ends: Option<(Moment, Moment)>,
    /// The marks.
    pub svg: String,
    /// The names of the table's columns.
    pub columns: Vec<&'static str>,
    /// More of them, whose names are not known before.
    pub more_columns: Vec<String>,
    /// Its rows: a moment, and what stands beside it.
    pub rows: Vec<(Moment, Vec<String>)>,
}

/// A line with the band in which it lies, and a target if there is one.
pub(crate) fn line(
    points: &[Point],
    range: Range,
    target: Option<f64>,
    lines: u32,
    label: &str,
) -> String {
    let mut svg = start("chart-marks", label);
    grid(&mut svg, range, lines);
    draw_band(&mut svg, points, range);
    if let Some(target) = target {
        let y = range.y(target);
        let _ = write!(svg, r#"<path class="target" d="M0 {y:.1}H{WIDTH}"/>"#);
    }
    draw_line(&mut svg, points, range, "line");
    hovers(&mut svg, points);
    svg.push_str("</svg>");
    svg
}

/// Bars, each of one or more parts on top of each other.
pub(crate) fn bars(bars: &[(Vec<f64>, String)], range: Range, lines: u32, label: &str) -> String {
    let mut svg = start("chart-marks", label);
    grid(&mut svg, range, lines);
    let slot = WIDTH / bars.len().max(1) as f64;
    for (place, (parts, told)) in bars.iter().enumerate() {
        let x = place as f64 * slot + slot * 0.14;
        let mut below = 0.0;
        let _ = write!(svg, r#"<g class="column"><title>{}</title>"#, escaped(told));
        let _ = write!(
            svg,
            r#"<path class="hover" d="M{:.2} 0h{slot:.2}v{HEIGHT}h-{slot:.2}z"/>"#,
            place as f64 * slot
        );
        for (part, value) in parts.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let (bottom, top) = (range.y(below), range.y(below + value));
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

/// A small line without words, beside a number that says the same.
pub(crate) fn spark(values: &[Option<f64>], target: Option<f64>) -> String {
    let range = {
        let known = values.iter().copied().flatten().chain(target);
        let (low, high) = ends(known);
        let room = if high > low { (high - low) * 0.12 } else { high.abs().max(1.0) * 0.1 };
        if low > high {
            Range { low: 0.0, high: 1.0 }
        } else {
            Range { low: low - room, high: high + room }
        }
    };
    // A trend: where nothing was counted, the line goes on to where something was.
    let known = values.iter().copied().flatten();
    let points: Vec<Point> =
        known.map(|value| Point { value: Some(value), ..Point::default() }).collect();
    let mut svg = format!(
        r#"<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">"#
    );
    if let Some(target) = target {
        let y = range.y(target);
        let _ = write!(svg, r#"<path class="target" d="M0 {y:.1}H{WIDTH}"/>"#);
    }
    draw_line(&mut svg, &points, range, "line");
    svg.push_str("</svg>");
    svg
}

/// A value with where it lies, on a line of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Whisker {
    /// The value.
    pub value: f64,
    /// From.
    pub low: f64,
    /// To.
    pub high: f64,
    /// What is said of it.
    pub told: String,
}

/// Values around nothing, which is in the middle; `reach` is at both ends.
pub(crate) fn whiskers(whiskers: &[Whisker], reach: f64, label: &str) -> String {
    let height = 26.0 * whiskers.len().max(1) as f64;
    let mut svg = format!(
        r#"<svg class="whiskers" viewBox="0 0 {WIDTH} {height}" height="{height}" preserveAspectRatio="none" role="img" aria-label="{}" focusable="false">"#,
        escaped(label)
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
            escaped(&one.told)
        );
    }
    svg.push_str("</svg>");
    svg
}

/// Shares against how likely they should be: where they are on the diagonal, they are right.
pub(crate) fn reliability(points: &[Point], range: Range, label: &str) -> String {
    let mut svg = start("chart-marks", label);
    grid(&mut svg, range, 3);
    let _ = write!(svg, r#"<path class="diagonal" d="M0 {HEIGHT}L{WIDTH} 0"/>"#);
    draw_band(&mut svg, points, range);
    draw_line(&mut svg, points, range, "line");
    hovers(&mut svg, points);
    svg.push_str("</svg>");
    svg
}

fn start(class: &str, label: &str) -> String {
    format!(
        r#"<svg class="{class}" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{}" focusable="false">"#,
        escaped(label)
    )
}

fn grid(svg: &mut String, range: Range, lines: u32) {
    for level in range.levels(lines) {
        let _ = write!(svg, r#"<path class="grid" d="M0 {:.1}H{WIDTH}"/>"#, range.y(level));
    }
}

/// The middle of a point's slot.
fn x(place: usize, all: usize) -> f64 {
    (place as f64 + 0.5) * WIDTH / all.max(1) as f64
}

/// Where a point is: its place, its value, and where that lies.
type Place = (f64, f64, (f64, f64));

/// Stretches of points that have a value.
fn stretches(points: &[Point]) -> Vec<Vec<Place>> {
    let mut found = vec![Vec::new()];
    for (place, point) in points.iter().enumerate() {
        match (point.value, found.last_mut()) {
            (Some(value), Some(stretch)) => {
                let interval = point.interval.unwrap_or((value, value));
                stretch.push((x(place, points.len()), value, interval));
            }
            (None, Some(stretch)) if !stretch.is_empty() => found.push(Vec::new()),
            (None, Some(_)) | (_, None) => {}
        }
    }
    found.retain(|stretch| !stretch.is_empty());
    found
}

fn draw_band(svg: &mut String, points: &[Point], range: Range) {
    // A value of which nobody can say where it lies has a line and no band.
    let bounded = |point: &Point| Point { value: point.interval.and(point.value), ..point.clone() };
    let points: Vec<Point> = points.iter().map(bounded).collect();
    for stretch in stretches(&points).iter().filter(|stretch| stretch.len() > 1) {
        let mut path = String::new();
        for (place, (x, _, (_, high))) in stretch.iter().enumerate() {
            let _ =
                write!(path, "{}{x:.1} {:.1}", if place == 0 { 'M' } else { 'L' }, range.y(*high));
        }
        for (x, _, (low, _)) in stretch.iter().rev() {
            let _ = write!(path, "L{x:.1} {:.1}", range.y(*low));
        }
        let _ = write!(svg, r#"<path class="band" d="{path}z"/>"#);
    }
}

fn draw_line(svg: &mut String, points: &[Point], range: Range, class: &str) {
    for stretch in stretches(points) {
        let mut path = String::new();
        for (place, (x, value, _)) in stretch.iter().enumerate() {
            let _ =
                write!(path, "{}{x:.1} {:.1}", if place == 0 { 'M' } else { 'L' }, range.y(*value));
        }
        // A line of no length with round ends is a dot that stretching does not make an egg.
        if stretch.len() == 1 {
            path.push_str("h0.01");
        }
        let _ = write!(svg, r#"<path class="{class}" d="{path}"/>"#);
        if let Some((x, value, _)) = stretch.last() {
            let _ = write!(
                svg,
                r#"<path class="{class} dot" d="M{x:.1} {:.1}h0.01"/>"#,
                range.y(*value)
            );
        }
    }
}

fn hovers(svg: &mut String, points: &[Point]) {
    let slot = WIDTH / points.len().max(1) as f64;
    for (place, point) in points.iter().enumerate().filter(|(_, point)| !point.told.is_empty()) {
        let left = place as f64 * slot;
        let _ = write!(
            svg,
            r#"<g class="column"><title>{}</title><path class="hover" d="M{left:.2} 0h{slot:.2}v{HEIGHT}h-{slot:.2}z"/></g>"#,
            escaped(&point.told)
        );
    }
}

/// A text as a part of a document.
pub(crate) fn escaped(text: &str) -> String {
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

    fn point(value: Option<f64>) -> Point {
        Point { value, interval: value.map(|v| (v - 0.1, v + 0.1)), told: "a <b>".into() }
    }

    #[test]
    fn a_gap_breaks_the_line() {
        let points = [point(Some(0.5)), point(Some(0.6)), point(None), point(Some(0.7))];
        let svg = line(&points, Range { low: 0.0, high: 1.0 }, Some(0.85), 3, "x");
        assert_eq!(svg.matches(r#"class="line""#).count(), 2);
        assert_eq!(svg.matches(r#"class="band""#).count(), 1, "one point has no band");
        assert!(svg.contains("a &lt;b&gt;") && !svg.contains("<b>"));
        assert!(svg.contains(r#"class="target" d="M0 24.0H600""#), "{svg}");
    }

    #[test]
    fn a_value_without_an_interval_has_no_band() {
        let bare = Point { value: Some(0.5), ..Point::default() };
        let points = [bare.clone(), bare, point(Some(0.6)), point(Some(0.7))];
        let svg = line(&points, Range { low: 0.0, high: 1.0 }, None, 3, "x");
        assert_eq!(svg.matches(r#"class="line""#).count(), 1);
        assert!(svg.contains(r#"class="band" d="M375.0"#), "from the third point on: {svg}");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(!spark(&[None, None], None).contains("<path"));
        assert!(!bars(&[], Range { low: 0.0, high: 1.0 }, 2, "x").contains("<rect"));
    }
}
