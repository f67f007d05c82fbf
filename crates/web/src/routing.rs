//! Routers: how their arms stand, what they get, what they earn.

use std::collections::BTreeMap;

use askama::Template;
use engine::RouterView;
use model::{RouterChoice, Timestamp, Window};

use crate::chart::{self, Chart, Range};
use crate::density::{Belief, densities};
use crate::failures::turn_link;
use crate::filter::Filter;
use crate::moment::{Moment, Shown};
use crate::number;
use crate::overview::{Period, periods};
use crate::shell::Shell;

/// An arm of a router.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The model.
    pub id: String,
    /// Which colour it has.
    pub series: usize,
    /// Whether it may be chosen.
    pub enabled: bool,
    /// How often it was chosen.
    pub choices: String,
    /// Its part of them.
    pub share: String,
    /// How many taught something.
    pub observations: String,
    /// The reward to expect.
    pub mean: String,
    /// Where that lies.
    pub interval: String,
    /// What its calls cost.
    pub cost: String,
    /// What one more would cost.
    pub expected: String,
    /// The turns it answered.
    pub link: String,
}

/// A choice that was made.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// When.
    pub when: Moment,
    /// Which arm.
    pub arm: String,
    /// How likely that was.
    pub chance: String,
    /// For which turn, and where that is.
    pub turn: Option<(String, String)>,
}

/// A router on the page.
#[derive(Debug)]
pub struct Router {
    /// Its name.
    pub name: String,
    /// How it chooses.
    pub algorithm: String,
    /// Its arms.
    pub arms: Vec<Arm>,
    /// What it believes of them.
    pub densities: String,
    /// What each of them answered, over time.
    pub traffic: Chart,
    /// Rewards lately, against before.
    pub trend: String,
    /// What was spent today.
    pub spent: String,
    /// How far a contextual candidate is ahead.
    pub lead: Option<String>,
    /// How often numbers went wrong.
    pub faults: u64,
    /// The latest choices.
    pub chosen: Vec<Chosen>,
}

/// What was read of a router.
#[derive(Debug)]
pub struct RouterReadings {
    /// As it stands.
    pub view: RouterView,
    /// How it chooses, in a word.
    pub algorithm: String,
    /// Answers of each arm, by the hour a stretch of time begins.
    pub answered: Vec<BTreeMap<i64, u64>>,
    /// The latest choices, the newest first: when, for which turn.
    pub choices: Vec<(Timestamp, Option<String>, RouterChoice)>,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "routing.html")]
pub struct Routing {
    /// The frame.
    pub shell: Shell,
    /// The project.
    pub project: String,
    /// Periods to choose from.
    pub periods: Vec<Period>,
    /// The routers.
    pub routers: Vec<Router>,
}

impl Routing {
    /// The page out of what was read.
    pub fn of(
        shell: Shell,
        project: &str,
        window: Window,
        bucket_hours: u32,
        readings: &[RouterReadings],
    ) -> Self {
        let filter = shell.filter.clone();
        let router = |one: &RouterReadings| router_of(one, window, bucket_hours, &filter, project);
        Self {
            project: project.to_owned(),
            periods: periods(&filter, "/routing"),
            routers: readings.iter().map(router).collect(),
            shell,
        }
    }
}

fn router_of(
    read: &RouterReadings,
    window: Window,
    bucket_hours: u32,
    filter: &Filter,
    project: &str,
) -> Router {
    let view = &read.view;
    let beliefs: Vec<Belief> = view
        .arms
        .iter()
        .map(|arm| Belief { name: arm.id.clone(), mean: arm.mean, interval: arm.interval })
        .collect();
    let arms = view.arms.iter().enumerate().map(|(place, arm)| Arm {
        id: arm.id.clone(),
        series: place % 6,
        enabled: arm.enabled,
        choices: number::count(arm.choices),
        share: number::percent(arm.share),
        observations: number::count(arm.observations),
        mean: format!("{:.3}", arm.mean),
        interval: format!("{:.3}–{:.3}", arm.interval[0], arm.interval[1]),
        cost: number::plain(arm.cost),
        expected: arm.expected_cost.map_or_else(|| "–".to_owned(), number::plain),
        link: filter.link_with("/conversations", &[("model", &arm.id), ("project", project)]),
    });
    let mean = |(turns, reward): (usize, Option<f64>)| {
        let reward = reward.map_or_else(|| "–".to_owned(), |reward| format!("{reward:.3}"));
        format!("{reward} over {turns} turns")
    };
    let chosen = read.choices.iter().map(|(ts, turn, choice)| Chosen {
        when: Moment::minute(*ts),
        arm: choice.arm.clone(),
        chance: number::percent(choice.propensity),
        turn: turn.as_ref().map(|turn| (turn.clone(), turn_link(filter, project, turn))),
    });
    Router {
        name: view.name.clone(),
        algorithm: crate::marked::words(&read.algorithm),
        densities: densities(&beliefs),
        traffic: traffic(read, window, bucket_hours),
        trend: format!("{}, before {}", mean(view.trend.recent), mean(view.trend.before)),
        spent: number::plain(view.spent_today),
        lead: view.lead.as_ref().map(|lead| {
            let [low, high] = lead.interval;
            let serving = if lead.serving { "it serves" } else { "it does not serve yet" };
            format!("{:+.3} ({low:+.3} to {high:+.3}), {serving}", lead.estimate)
        }),
        faults: view.faults,
        chosen: chosen.collect(),
        arms: arms.collect(),
    }
}

/// What each arm answered, as parts of each stretch.
fn traffic(read: &RouterReadings, window: Window, bucket_hours: u32) -> Chart {
    const HOUR: i64 = 3_600_000_000;
    let size = i64::from(bucket_hours.max(1));
    let hour = |ts: Timestamp| ts.as_micros().div_euclid(HOUR).div_euclid(size) * size;
    let (first, last) = (hour(window.start), hour(window.end));
    let moment = |hour: i64| {
        let shown = if size < 24 { Shown::Minute } else { Shown::Day };
        Moment::of(Timestamp::from_micros(hour * HOUR), shown)
    };
    let (mut bars, mut rows) = (Vec::new(), Vec::new());
    let mut at = first;
    while at <= last && bars.len() < 1000 {
        let count = |hours: &BTreeMap<i64, u64>| hours.get(&at).map_or(0.0, |count| *count as f64);
        let counts: Vec<f64> = read.answered.iter().map(count).collect();
        let all: f64 = counts.iter().sum();
        let shares: Vec<f64> =
            counts.iter().map(|count| if all > 0.0 { count / all } else { 0.0 }).collect();
        let when = moment(at);
        let names = read.view.arms.iter().zip(&shares);
        let told: Vec<String> =
            names.map(|(arm, share)| format!("{} {}", arm.id, number::percent(*share))).collect();
        if all > 0.0 {
            rows.push((when.clone(), shares.iter().copied().map(number::percent).collect()));
        }
        bars.push((shares, format!("{}: {} answers; {}", when.text, all, told.join(", "))));
        at += size;
    }
    let range = Range { low: 0.0, high: 1.0 };
    let summary = "Which model answered, as shares over time".to_owned();
    Chart {
        title: "Traffic over time".to_owned(),
        svg: chart::bars(&bars, range, 3, &summary).replace("bar part-", "bar series-"),
        levels: range.levels(3).into_iter().map(|level| format!("{:.0}%", level * 100.0)).collect(),
        ends: (!bars.is_empty()).then(|| (moment(first), moment(last))),
        columns: vec!["From"],
        more_columns: read.view.arms.iter().map(|arm| arm.id.clone()).collect(),
        rows,
        summary,
    }
}
