//! The overview page: metrics against targets, alerts and volume.

use askama::Template;
use engine::{QualityBucket, StoredAlert, Targets};
use model::{Timestamp, Window};
use report::{Figure, Target};

use crate::chart::{self, AxisRange, Chart, ChartPoint};
use crate::display_time::{DisplayTime, TimePrecision};
use crate::filter::Filter;
use crate::layout::PageLayout;
use crate::metric_card::{self, MetricCard};
use crate::number_format;
use crate::select_options::SelectOptions;

const HOUR_MICROS: i64 = 3_600_000_000;
/// Selectable periods: days and label.
const PERIODS: [(u32, &str); 4] = [(1, "24 h"), (7, "7 days"), (30, "30 days"), (90, "90 days")];

#[derive(Debug)]
pub struct OverviewInput {
    pub buckets: Vec<QualityBucket>,
    pub bucket_hours: u32,
    pub before: QualityBucket,
    pub window: Window,
    pub targets: Targets,
    pub alerts: Vec<StoredAlert>,
    pub models: SelectOptions,
    pub prompts: SelectOptions,
    pub is_empty: bool,
}

#[derive(Clone, Debug)]
pub struct PeriodLink {
    pub name: &'static str,
    pub link: String,
    pub is_here: bool,
}

/// An alert on the page.
#[derive(Clone, Debug)]
pub struct AlertLine {
    pub text: String,
    pub since: Option<DisplayTime>,
    pub until: Option<DisplayTime>,
    pub link: String,
}

#[derive(Debug, Template)]
#[template(path = "overview.html")]
pub struct OverviewPage {
    pub layout: PageLayout,
    pub periods: Vec<PeriodLink>,
    pub models: SelectOptions,
    pub prompts: SelectOptions,
    pub standing: Vec<AlertLine>,
    pub over: Vec<AlertLine>,
    pub targeted: Vec<MetricCard>,
    pub others: Vec<MetricCard>,
    pub satisfaction: Chart,
    pub leading: MetricCard,
    pub volume: Chart,
    pub turns: String,
    pub coverage: MetricCard,
    pub is_empty: bool,
    pub save: String,
}

impl OverviewPage {
    pub fn new(layout: PageLayout, readings: OverviewInput) -> Self {
        let series = fill_buckets(&readings);
        let now = report::total(&readings.buckets);
        let (filter, targets) = (&layout.filter, &readings.targets);
        let card = |figure: Figure| {
            MetricCard::new(figure, &series, &now, &readings.before, targets.of(figure), filter)
        };
        let beside = [Figure::Satisfaction, Figure::FeedbackCoverage];
        let all = Figure::ALL.iter().copied().filter(|figure| !beside.contains(figure));
        let (targeted, others): (Vec<Figure>, Vec<Figure>) =
            all.partition(|figure| targets.of(*figure).is_some());
        let (over, standing): (Vec<&StoredAlert>, Vec<&StoredAlert>) =
            readings.alerts.iter().partition(|alert| alert.cleared.is_some());
        let alert = |stored: &&StoredAlert| alert_line(stored, filter);
        Self {
            periods: period_links(filter, "/"),
            save: filter.link("/report"),
            standing: standing.iter().map(alert).collect(),
            over: over.iter().take(3).map(alert).collect(),
            targeted: sort_known_first(targeted.into_iter().map(card).collect()),
            others: sort_known_first(others.into_iter().map(card).collect()),
            satisfaction: satisfaction_chart(&series, &readings),
            leading: card(Figure::Satisfaction),
            coverage: card(Figure::FeedbackCoverage),
            volume: volume_chart(&series, &readings),
            turns: number_format::format_count(now.counts.turns.unsigned_abs()),
            models: readings.models,
            prompts: readings.prompts,
            is_empty: readings.is_empty,
            layout,
        }
    }
}

/// Metrics without data come last.
fn sort_known_first(mut cards: Vec<MetricCard>) -> Vec<MetricCard> {
    cards.sort_by_key(|card| card.value == "–");
    cards
}

pub(crate) fn period_links(filter: &Filter, path: &str) -> Vec<PeriodLink> {
    let one = |(days, name): (u32, &'static str)| PeriodLink {
        name,
        link: Filter { days, ..filter.clone() }.link(path),
        is_here: filter.days == days,
    };
    PERIODS.into_iter().map(one).collect()
}

/// All buckets of the window; `None` where there is no data.
fn fill_buckets(readings: &OverviewInput) -> Vec<Option<QualityBucket>> {
    let size = i64::from(readings.bucket_hours.max(1));
    let first = readings.window.start.as_micros().div_euclid(HOUR_MICROS).div_euclid(size) * size;
    let last =
        (readings.window.end.as_micros() - 1).div_euclid(HOUR_MICROS).div_euclid(size) * size;
    let mut found = Vec::new();
    let mut hour = first;
    while hour <= last && found.len() < 1000 {
        found.push(readings.buckets.iter().find(|bucket| bucket.hour == hour).cloned());
        hour += size;
    }
    found
}

fn bucket_start(readings: &OverviewInput, place: usize) -> DisplayTime {
    let size = i64::from(readings.bucket_hours.max(1));
    let first = readings.window.start.as_micros().div_euclid(HOUR_MICROS).div_euclid(size) * size;
    let ts = Timestamp::from_micros((first + place as i64 * size) * HOUR_MICROS);
    let shown = if size < 24 { TimePrecision::Minute } else { TimePrecision::Day };
    DisplayTime::new(ts, shown)
}

fn bucket_ends(
    readings: &OverviewInput,
    bucket_count: usize,
) -> Option<(DisplayTime, DisplayTime)> {
    (bucket_count > 0)
        .then(|| (bucket_start(readings, 0), bucket_start(readings, bucket_count - 1)))
}

fn satisfaction_chart(series: &[Option<QualityBucket>], readings: &OverviewInput) -> Chart {
    let figure = Figure::Satisfaction;
    let mut rows = Vec::new();
    let mut points = Vec::new();
    for (place, bucket) in series.iter().enumerate() {
        let Some(found) = bucket.as_ref().map(|bucket| figure.read(bucket)) else {
            points.push(ChartPoint::default());
            continue;
        };
        let when = bucket_start(readings, place);
        let (value, interval) = (found.value(), found.interval());
        let reactions = number_format::format_count(found.denominator());
        if let (Some(value), Some((low, high))) = (value, interval) {
            let range = format!("{:.1}–{:.1}%", low * 100.0, high * 100.0);
            let tooltip = format!(
                "{}: {} ({range}), {reactions} reactions",
                when.text,
                number_format::format_percent(value)
            );
            rows.push((when, vec![number_format::format_percent(value), range, reactions]));
            points.push(ChartPoint { value: Some(value), interval: Some((low, high)), tooltip });
        } else {
            points.push(ChartPoint::default());
        }
    }
    let target = readings.targets.of(figure).map(|target| match target {
        Target::Min(bound) | Target::Max(bound) => bound,
    });
    let values = points.iter().filter_map(|point| point.value).chain(target);
    let range = AxisRange::from_shares(values);
    let summary = match rows.last() {
        Some((when, cells)) => format!(
            "Satisfaction over time; {} of {} buckets had reactions, most recently {} ({})",
            rows.len(),
            points.len(),
            cells[0],
            when.text
        ),
        None => "Satisfaction over time: no reactions in this period".to_owned(),
    };
    Chart {
        title: "Satisfaction over time".to_owned(),
        svg: chart::draw_line_chart(&points, range, target, 3, &summary),
        levels: range.levels(3).into_iter().map(|level| format!("{:.0}%", level * 100.0)).collect(),
        ends: bucket_ends(readings, points.len()),
        more_columns: Vec::new(),
        columns: vec!["From", "Satisfaction", "95% CI", "Reactions"],
        rows,
        summary,
    }
}

/// The volume chart of the system page.
pub fn throughput_chart(buckets: Vec<QualityBucket>, bucket_hours: u32, window: Window) -> Chart {
    let readings = OverviewInput {
        buckets,
        bucket_hours,
        before: QualityBucket::default(),
        window,
        targets: Targets::default(),
        alerts: Vec::new(),
        models: SelectOptions::default(),
        prompts: SelectOptions::default(),
        is_empty: false,
    };
    volume_chart(&fill_buckets(&readings), &readings)
}

fn volume_chart(series: &[Option<QualityBucket>], readings: &OverviewInput) -> Chart {
    let mut rows = Vec::new();
    let mut bars = Vec::new();
    for (place, bucket) in series.iter().enumerate() {
        let counts = bucket.as_ref().map(|bucket| bucket.counts).unwrap_or_default();
        let (turns, wrong) =
            (counts.turns.max(0) as f64, counts.wrong.clamp(0, counts.turns.max(0)) as f64);
        let when = bucket_start(readings, place);
        let shown = number_format::format_count(counts.turns.unsigned_abs());
        let bad = number_format::format_count(counts.wrong.unsigned_abs());
        bars.push((
            vec![wrong, turns - wrong],
            format!("{}: {shown} turns, {bad} rejected or corrected", when.text),
        ));
        if counts.turns > 0 {
            let with_signal = number_format::format_count(counts.heard.unsigned_abs());
            rows.push((when, vec![shown, bad, with_signal]));
        }
    }
    let range = AxisRange::from_zero(bars.iter().map(|(parts, _)| parts.iter().sum()));
    let summary = "Turns over time, with rejected or corrected turns highlighted".to_owned();
    Chart {
        title: "Turns".to_owned(),
        svg: chart::draw_bar_chart(&bars, range, 3, &summary),
        levels: range.levels(3).into_iter().map(number_format::format_axis_level).collect(),
        ends: bucket_ends(readings, bars.len()),
        more_columns: Vec::new(),
        columns: vec!["From", "Turns", "Rejected or corrected", "With a human signal"],
        rows,
        summary,
    }
}

fn alert_line(stored: &StoredAlert, filter: &Filter) -> AlertLine {
    let figure = Figure::from_word(&stored.metric);
    let name = figure.map_or(stored.metric.as_str(), |figure| metric_card::metric_name(figure));
    let field = |name: &str| {
        stored.raised.as_ref().and_then(|raised| raised.event.data.get(name)?.as_f64())
    };
    let shown = |value: f64| {
        figure.map_or_else(
            || number_format::format_number(value),
            |figure| metric_card::format_value(figure, value),
        )
    };
    let value = field("value").map_or_else(String::new, |value| format!(": {}", shown(value)));
    let target_text = match (field("min"), field("max")) {
        (Some(least), _) => format!(", target at least {}", shown(least)),
        (None, Some(most)) => format!(", target at most {}", shown(most)),
        (None, None) => String::new(),
    };
    let window =
        field("window_hours").map_or_else(String::new, |hours| format!(", over {hours:.0} h"));
    let show = figure.map_or("trouble", metric_card::turn_filter);
    let project = stored.scope.project.as_str();
    AlertLine {
        text: format!("{name}{value}{target_text}{window}, in {project}"),
        since: stored.raised.as_ref().map(|raised| DisplayTime::with_minutes(raised.event.ts)),
        until: stored.cleared.as_ref().map(|cleared| DisplayTime::with_minutes(cleared.event.ts)),
        link: filter.link_with("/conversations", &[("project", project), ("show", show)]),
    }
}
