//! The overview page: metrics against targets, alerts and volume.

use askama::Template;
use engine::report::{Figure, Target};
use engine::{QualityBucket, StoredAlert, Targets};
use model::{Body, Finding, Timestamp, Window};

use crate::chart::{self, AxisRange, Chart, ChartPoint};
use crate::display_time::{DisplayTime, TimePrecision};
use crate::filter::Filter;
use crate::layout::PageLayout;
use crate::metric_card::{MetricCard, format_value, metric_name, turn_filter};
use crate::number_format::{format_axis_level, format_count, format_number, format_percent};
use crate::select_options::SelectOptions;

const HOUR_MICROS: i64 = 3_600_000_000;
const MAX_BUCKETS: usize = 1000;
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
    pub label: &'static str,
    pub link: String,
    pub is_selected: bool,
}

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
    pub active_alerts: Vec<AlertLine>,
    pub resolved_alerts: Vec<AlertLine>,
    pub targeted: Vec<MetricCard>,
    pub others: Vec<MetricCard>,
    pub satisfaction: Chart,
    pub satisfaction_card: MetricCard,
    pub volume: Chart,
    pub turns: String,
    pub coverage: MetricCard,
    pub is_empty: bool,
    pub report_link: String,
}

impl OverviewPage {
    pub fn new(layout: PageLayout, input: OverviewInput) -> Self {
        let series = BucketSeries::new(&input.buckets, input.bucket_hours, input.window);
        let now = engine::report::sum_buckets(&input.buckets);
        let (filter, targets) = (&layout.filter, &input.targets);
        let card = |figure: Figure| {
            MetricCard::new(
                figure,
                &series.buckets,
                &now,
                &input.before,
                targets.target_for(figure),
                filter,
            )
        };
        let beside = [Figure::Satisfaction, Figure::FeedbackCoverage];
        let all = Figure::ALL_FIGURES.iter().copied().filter(|figure| !beside.contains(figure));
        let (targeted, others): (Vec<Figure>, Vec<Figure>) =
            all.partition(|figure| targets.target_for(*figure).is_some());
        let (resolved, active): (Vec<&StoredAlert>, Vec<&StoredAlert>) =
            input.alerts.iter().partition(|alert| alert.cleared.is_some());
        let alert = |stored: &&StoredAlert| alert_line(stored, filter);
        Self {
            periods: period_links(filter, "/"),
            report_link: filter.link("/report"),
            active_alerts: active.iter().map(alert).collect(),
            resolved_alerts: resolved.iter().take(3).map(alert).collect(),
            targeted: sort_known_first(targeted.into_iter().map(card).collect()),
            others: sort_known_first(others.into_iter().map(card).collect()),
            satisfaction: satisfaction_chart(&series, targets.target_for(Figure::Satisfaction)),
            satisfaction_card: card(Figure::Satisfaction),
            coverage: card(Figure::FeedbackCoverage),
            volume: volume_chart(&series),
            turns: format_count(now.counts.turns.unsigned_abs()),
            models: input.models,
            prompts: input.prompts,
            is_empty: input.is_empty,
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
    let period = |(days, label): (u32, &'static str)| PeriodLink {
        label,
        link: Filter { days, ..filter.clone() }.link(path),
        is_selected: filter.days == days,
    };
    PERIODS.into_iter().map(period).collect()
}

/// Buckets of whole hours that cover a window; `None` where there is no data.
struct BucketSeries {
    first_hour: i64,
    hours: i64,
    buckets: Vec<Option<QualityBucket>>,
}

impl BucketSeries {
    fn new(buckets: &[QualityBucket], bucket_hours: u32, window: Window) -> Self {
        let hours = i64::from(bucket_hours.max(1));
        let bucket_of = |micros: i64| micros.div_euclid(HOUR_MICROS).div_euclid(hours) * hours;
        let first_hour = bucket_of(window.start.as_micros());
        let last_hour = bucket_of(window.end.as_micros() - 1);
        let starts = (first_hour..=last_hour).step_by(hours as usize).take(MAX_BUCKETS);
        let find = |hour: i64| buckets.iter().find(|bucket| bucket.hour == hour).cloned();
        Self { first_hour, hours, buckets: starts.map(find).collect() }
    }

    fn start_time(&self, index: usize) -> DisplayTime {
        let hour = self.first_hour + index as i64 * self.hours;
        let precision = if self.hours < 24 { TimePrecision::Minute } else { TimePrecision::Day };
        DisplayTime::new(Timestamp::from_micros(hour * HOUR_MICROS), precision)
    }

    fn first_and_last(&self) -> Option<(DisplayTime, DisplayTime)> {
        let last = self.buckets.len().checked_sub(1)?;
        Some((self.start_time(0), self.start_time(last)))
    }
}

fn satisfaction_chart(series: &BucketSeries, target: Option<Target>) -> Chart {
    let figure = Figure::Satisfaction;
    let mut rows = Vec::new();
    let mut points = Vec::new();
    for (index, bucket) in series.buckets.iter().enumerate() {
        let Some(found) = bucket.as_ref().map(|bucket| figure.compute(bucket)) else {
            points.push(ChartPoint::default());
            continue;
        };
        let when = series.start_time(index);
        let (value, interval) = (found.value(), found.interval());
        let reactions = format_count(found.denominator());
        if let (Some(value), Some((low, high))) = (value, interval) {
            let range = format!("{:.1}–{:.1}%", low * 100.0, high * 100.0);
            let tooltip = format!(
                "{}: {} ({range}), {reactions} reactions",
                when.text,
                format_percent(value)
            );
            rows.push((when, vec![format_percent(value), range, reactions]));
            points.push(ChartPoint { value: Some(value), interval: Some((low, high)), tooltip });
        } else {
            points.push(ChartPoint::default());
        }
    }
    let target = target.map(|target| match target {
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
        ends: series.first_and_last(),
        more_columns: Vec::new(),
        columns: vec!["From", "Satisfaction", "95% CI", "Reactions"],
        rows,
        summary,
    }
}

/// The volume chart of the system page.
pub fn throughput_chart(buckets: &[QualityBucket], bucket_hours: u32, window: Window) -> Chart {
    volume_chart(&BucketSeries::new(buckets, bucket_hours, window))
}

fn volume_chart(series: &BucketSeries) -> Chart {
    let mut rows = Vec::new();
    let mut bars = Vec::new();
    for (index, bucket) in series.buckets.iter().enumerate() {
        let counts = bucket.as_ref().map(|bucket| bucket.counts).unwrap_or_default();
        let (turns, wrong) =
            (counts.turns.max(0) as f64, counts.wrong.clamp(0, counts.turns.max(0)) as f64);
        let when = series.start_time(index);
        let shown = format_count(counts.turns.unsigned_abs());
        let bad = format_count(counts.wrong.unsigned_abs());
        bars.push((
            vec![wrong, turns - wrong],
            format!("{}: {shown} turns, {bad} rejected or corrected", when.text),
        ));
        if counts.turns > 0 {
            let with_signal = format_count(counts.heard.unsigned_abs());
            rows.push((when, vec![shown, bad, with_signal]));
        }
    }
    let range = AxisRange::from_zero(bars.iter().map(|(parts, _)| parts.iter().sum()));
    let summary = "Turns over time, with rejected or corrected turns highlighted".to_owned();
    Chart {
        title: "Turns".to_owned(),
        svg: chart::draw_bar_chart(&bars, range, 3, &summary),
        levels: range.levels(3).into_iter().map(format_axis_level).collect(),
        ends: series.first_and_last(),
        more_columns: Vec::new(),
        columns: vec!["From", "Turns", "Rejected or corrected", "With a human signal"],
        rows,
        summary,
    }
}

fn alert_line(stored: &StoredAlert, filter: &Filter) -> AlertLine {
    let figure = Figure::from_word(&stored.metric);
    let name = figure.map_or(stored.metric.as_str(), |figure| metric_name(figure));
    let raised = stored.raised.as_ref().and_then(|raised| {
        let Body::Finding(Finding::Alert(found)) = &raised.event.body else { return None };
        Some(found)
    });
    let shown = |value: f64| {
        figure.map_or_else(|| format_number(value), |figure| format_value(figure, value))
    };
    let value = raised.and_then(|found| found.value);
    let value = value.map_or_else(String::new, |value| format!(": {}", shown(value)));
    let target_text = match (raised.and_then(|found| found.min), raised.and_then(|found| found.max))
    {
        (Some(least), _) => format!(", target at least {}", shown(least)),
        (None, Some(most)) => format!(", target at most {}", shown(most)),
        (None, None) => String::new(),
    };
    let window =
        raised.map_or_else(String::new, |found| format!(", over {} h", found.window_hours));
    let show = figure.map_or("trouble", turn_filter);
    let project = stored.scope.project.as_str();
    AlertLine {
        text: format!("{name}{value}{target_text}{window}, in {project}"),
        since: stored.raised.as_ref().map(|raised| DisplayTime::with_minutes(raised.event.ts)),
        until: stored.cleared.as_ref().map(|cleared| DisplayTime::with_minutes(cleared.event.ts)),
        link: filter.link_with("/conversations", &[("project", project), ("show", show)]),
    }
}
