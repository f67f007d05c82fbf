//! The first page: figures against their targets, what stands out, and how much there is.

use askama::Template;
use engine::{QualityBucket, StoredAlert, Targets};
use model::{Timestamp, Window};
use report::{Figure, Target};

use crate::chart::{self, Chart, Point, Range};
use crate::choices::Choices;
use crate::figures::{self, Card};
use crate::filter::Filter;
use crate::moment::{Moment, Shown};
use crate::number;
use crate::shell::Shell;

/// In microseconds.
const HOUR: i64 = 3_600_000_000;
/// The periods that can be chosen: days, and what they are called.
const PERIODS: [(u32, &str); 4] = [(1, "24 h"), (7, "7 days"), (30, "30 days"), (90, "90 days")];

/// What was read for it.
#[derive(Debug)]
pub struct Readings {
    /// Sums by stretches of time, the earliest first.
    pub buckets: Vec<QualityBucket>,
    /// How many hours a stretch has.
    pub bucket_hours: u32,
    /// The sums of the period before.
    pub before: QualityBucket,
    /// The period.
    pub window: Window,
    /// Where figures should be.
    pub targets: Targets,
    /// The newest alerts.
    pub alerts: Vec<StoredAlert>,
    /// Models that answered.
    pub models: Choices,
    /// Prompts they answered with.
    pub prompts: Choices,
    /// Whether anything was ever stored here.
    pub is_empty: bool,
}

/// A period that can be chosen.
#[derive(Clone, Debug)]
pub struct Period {
    /// What it is called.
    pub name: &'static str,
    /// Where it leads.
    pub link: String,
    /// Whether it is the one that is shown.
    pub is_here: bool,
}

/// A figure that is on the wrong side.
#[derive(Clone, Debug)]
pub struct Alert {
    /// What it says.
    pub text: String,
    /// Since when.
    pub since: Option<Moment>,
    /// Since when it is over.
    pub until: Option<Moment>,
    /// The turns behind it.
    pub link: String,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "overview.html")]
pub struct Overview {
    /// The frame.
    pub shell: Shell,
    /// Periods to choose from.
    pub periods: Vec<Period>,
    /// Models to choose from.
    pub models: Choices,
    /// Prompts to choose from.
    pub prompts: Choices,
    /// What is wrong now.
    pub standing: Vec<Alert>,
    /// What was wrong lately.
    pub over: Vec<Alert>,
    /// The figures with a target.
    pub targeted: Vec<Card>,
    /// The others.
    pub others: Vec<Card>,
    /// How content people are, over time.
    pub satisfaction: Chart,
    /// The same figure as a number.
    pub leading: Card,
    /// How much was asked.
    pub volume: Chart,
    /// How many turns, in words.
    pub turns: String,
    /// Of those of which somebody gave a sign.
    pub coverage: Card,
    /// Whether anything was ever stored here.
    pub is_empty: bool,
    /// All of it as a file.
    pub save: String,
}

impl Overview {
    /// The page out of what was read.
    pub fn of(shell: Shell, readings: Readings) -> Self {
        let series = filled(&readings);
        let now = report::sum_buckets(&readings.buckets);
        let (filter, targets) = (&shell.filter, &readings.targets);
        let card = |figure: Figure| {
            Card::of(figure, &series, &now, &readings.before, targets.target_for(figure), filter)
        };
        let beside = [Figure::Satisfaction, Figure::FeedbackCoverage];
        let all = Figure::ALL.iter().copied().filter(|figure| !beside.contains(figure));
        let (targeted, others): (Vec<Figure>, Vec<Figure>) =
            all.partition(|figure| targets.target_for(*figure).is_some());
        let (over, standing): (Vec<&StoredAlert>, Vec<&StoredAlert>) =
            readings.alerts.iter().partition(|alert| alert.cleared.is_some());
        let alert = |stored: &&StoredAlert| alert_of(stored, filter);
        Self {
            periods: periods(filter, "/"),
            save: filter.link("/report"),
            standing: standing.iter().map(alert).collect(),
            over: over.iter().take(3).map(alert).collect(),
            targeted: known_first(targeted.into_iter().map(card).collect()),
            others: known_first(others.into_iter().map(card).collect()),
            satisfaction: satisfaction(&series, &readings),
            leading: card(Figure::Satisfaction),
            coverage: card(Figure::FeedbackCoverage),
            volume: volume(&series, &readings),
            turns: number::count(now.counts.turns.unsigned_abs()),
            models: readings.models,
            prompts: readings.prompts,
            is_empty: readings.is_empty,
            shell,
        }
    }
}

/// Figures of which something was counted come first.
fn known_first(mut cards: Vec<Card>) -> Vec<Card> {
    cards.sort_by_key(|card| card.value == "–");
    cards
}

/// Periods to choose from, on a page.
pub(crate) fn periods(filter: &Filter, path: &str) -> Vec<Period> {
    let one = |(days, name): (u32, &'static str)| Period {
        name,
        link: Filter { days, ..filter.clone() }.link(path),
        is_here: filter.days == days,
    };
    PERIODS.into_iter().map(one).collect()
}

/// Every stretch of the window, with nothing where nothing happened.
fn filled(readings: &Readings) -> Vec<Option<QualityBucket>> {
    let size = i64::from(readings.bucket_hours.max(1));
    let first = readings.window.start.as_micros().div_euclid(HOUR).div_euclid(size) * size;
    let last = (readings.window.end.as_micros() - 1).div_euclid(HOUR).div_euclid(size) * size;
    let mut found = Vec::new();
    let mut hour = first;
    while hour <= last && found.len() < 1000 {
        found.push(readings.buckets.iter().find(|bucket| bucket.hour == hour).cloned());
        hour += size;
    }
    found
}

/// When a stretch begins.
fn begins(readings: &Readings, place: usize) -> Moment {
    let size = i64::from(readings.bucket_hours.max(1));
    let first = readings.window.start.as_micros().div_euclid(HOUR).div_euclid(size) * size;
    let ts = Timestamp::from_micros((first + place as i64 * size) * HOUR);
    let shown = if size < 24 { Shown::Minute } else { Shown::Day };
    Moment::of(ts, shown)
}

fn ends(readings: &Readings, stretches: usize) -> Option<(Moment, Moment)> {
    (stretches > 0).then(|| (begins(readings, 0), begins(readings, stretches - 1)))
}

fn satisfaction(series: &[Option<QualityBucket>], readings: &Readings) -> Chart {
    let figure = Figure::Satisfaction;
    let mut rows = Vec::new();
    let mut points = Vec::new();
    for (place, bucket) in series.iter().enumerate() {
        let Some(found) = bucket.as_ref().map(|bucket| figure.compute(bucket)) else {
            points.push(Point::default());
            continue;
        };
        let when = begins(readings, place);
        let (value, interval) = (found.value(), found.interval());
        let reactions = number::count(found.denominator());
        if let (Some(value), Some((low, high))) = (value, interval) {
            let range = format!("{:.1}–{:.1}%", low * 100.0, high * 100.0);
            let told = format!(
                "{}: {} ({range}), {reactions} reactions",
                when.text,
                number::percent(value)
            );
            rows.push((when, vec![number::percent(value), range, reactions]));
            points.push(Point { value: Some(value), interval: Some((low, high)), told });
        } else {
            points.push(Point::default());
        }
    }
    let target = readings.targets.target_for(figure).map(|target| match target {
        Target::Min(bound) | Target::Max(bound) => bound,
    });
    let values = points.iter().filter_map(|point| point.value).chain(target);
    let range = Range::of_shares(values);
    let summary = match rows.last() {
        Some((when, cells)) => format!(
            "Satisfaction over time; {} of {} stretches had reactions, lately {} ({})",
            rows.len(),
            points.len(),
            cells[0],
            when.text
        ),
        None => "Satisfaction over time: no reactions in this period".to_owned(),
    };
    Chart {
        title: "Satisfaction over time".to_owned(),
        svg: chart::line(&points, range, target, 3, &summary),
        levels: range.levels(3).into_iter().map(|level| format!("{:.0}%", level * 100.0)).collect(),
        ends: ends(readings, points.len()),
        more_columns: Vec::new(),
        columns: vec!["From", "Satisfaction", "95% interval", "Reactions"],
        rows,
        summary,
    }
}

/// How much was asked, by stretches of a window.
pub fn volume_of(buckets: Vec<QualityBucket>, bucket_hours: u32, window: Window) -> Chart {
    let readings = Readings {
        buckets,
        bucket_hours,
        before: QualityBucket::default(),
        window,
        targets: Targets::default(),
        alerts: Vec::new(),
        models: Choices::default(),
        prompts: Choices::default(),
        is_empty: false,
    };
    volume(&filled(&readings), &readings)
}

fn volume(series: &[Option<QualityBucket>], readings: &Readings) -> Chart {
    let mut rows = Vec::new();
    let mut bars = Vec::new();
    for (place, bucket) in series.iter().enumerate() {
        let counts = bucket.as_ref().map(|bucket| bucket.counts).unwrap_or_default();
        let (turns, wrong) =
            (counts.turns.max(0) as f64, counts.wrong.clamp(0, counts.turns.max(0)) as f64);
        let when = begins(readings, place);
        let shown = number::count(counts.turns.unsigned_abs());
        let bad = number::count(counts.wrong.unsigned_abs());
        bars.push((
            vec![wrong, turns - wrong],
            format!("{}: {shown} turns, {bad} rejected or corrected", when.text),
        ));
        if counts.turns > 0 {
            let heard = number::count(counts.heard.unsigned_abs());
            rows.push((when, vec![shown, bad, heard]));
        }
    }
    let range = Range::from_zero(bars.iter().map(|(parts, _)| parts.iter().sum()));
    let summary = "Turns over time, and those that were rejected or corrected".to_owned();
    Chart {
        title: "Turns".to_owned(),
        svg: chart::bars(&bars, range, 3, &summary),
        levels: range.levels(3).into_iter().map(number::plain_level).collect(),
        ends: ends(readings, bars.len()),
        more_columns: Vec::new(),
        columns: vec!["From", "Turns", "Rejected or corrected", "With a human signal"],
        rows,
        summary,
    }
}

fn alert_of(stored: &StoredAlert, filter: &Filter) -> Alert {
    let figure = Figure::from_word(&stored.metric);
    let name = figure.map_or(stored.metric.as_str(), |figure| figures::name(figure));
    let field = |name: &str| {
        stored.raised.as_ref().and_then(|raised| raised.event.data.get(name)?.as_f64())
    };
    let shown = |value: f64| {
        figure.map_or_else(|| number::plain(value), |figure| figures::shown(figure, value))
    };
    let value = field("value").map_or_else(String::new, |value| format!(": {}", shown(value)));
    let wanted = match (field("min"), field("max")) {
        (Some(least), _) => format!(", wanted at least {}", shown(least)),
        (None, Some(most)) => format!(", wanted at most {}", shown(most)),
        (None, None) => String::new(),
    };
    let window =
        field("window_hours").map_or_else(String::new, |hours| format!(", over {hours:.0} h"));
    let show = figure.map_or("trouble", figures::behind);
    let project = stored.scope.project.as_str();
    Alert {
        text: format!("{name}{value}{wanted}{window}, in {project}"),
        since: stored.raised.as_ref().map(|raised| Moment::minute(raised.event.ts)),
        until: stored.cleared.as_ref().map(|cleared| Moment::minute(cleared.event.ts)),
        link: filter.link_with("/conversations", &[("project", project), ("show", show)]),
    }
}
