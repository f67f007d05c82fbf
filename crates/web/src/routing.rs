//! The routing page: arms, traffic and rewards of each router.

use std::collections::BTreeMap;

use askama::Template;
use engine::{ArmSummary, RouterView};
use model::{RouterChoice, Timestamp, Window};

use crate::chart::{self, AxisRange, Chart};
use crate::display_time::{DisplayTime, TimePrecision};
use crate::failures::{TurnLink, turn_link};
use crate::filter::Filter;
use crate::highlight::humanize_name;
use crate::layout::PageLayout;
use crate::number_format::{format_number, format_percent};
use crate::overview::{PeriodLink, period_links};
use crate::posterior_chart::{ArmPosterior, draw_posteriors};

#[derive(Debug)]
pub struct RouterCard {
    pub name: String,
    pub algorithm: String,
    pub arms: Vec<ArmSummary>,
    pub densities: String,
    pub traffic: Chart,
    pub trend: String,
    pub spent: String,
    pub lead: Option<String>,
    pub faults: u64,
    pub latest_choices: Vec<ChoiceRow>,
}

#[derive(Debug)]
pub struct ChoiceRow {
    pub when: DisplayTime,
    pub arm: String,
    pub propensity: String,
    pub turn: Option<TurnLink>,
}

#[derive(Debug)]
pub struct RouterInput {
    pub view: RouterView,
    pub algorithm: String,
    pub answered: Vec<BTreeMap<i64, u64>>,
    pub choices: Vec<(Timestamp, Option<String>, RouterChoice)>,
}

#[derive(Debug, Template)]
#[template(path = "routing.html")]
pub struct RoutingPage {
    pub layout: PageLayout,
    pub project: String,
    pub periods: Vec<PeriodLink>,
    pub routers: Vec<RouterCard>,
}

impl RoutingPage {
    pub fn new(
        layout: PageLayout,
        project: &str,
        window: Window,
        bucket_hours: u32,
        readings: &[RouterInput],
    ) -> Self {
        let filter = layout.filter.clone();
        let router = |one: &RouterInput| router_card(one, window, bucket_hours, &filter, project);
        Self {
            project: project.to_owned(),
            periods: period_links(&filter, "/routing"),
            routers: readings.iter().map(router).collect(),
            layout,
        }
    }

    /// The link to the conversations with the answers of an arm.
    pub fn arm_link(&self, arm: &str) -> String {
        let others = [("model", arm), ("project", &self.project)];
        self.layout.filter.link_with("/conversations", &others)
    }
}

fn router_card(
    input: &RouterInput,
    window: Window,
    bucket_hours: u32,
    filter: &Filter,
    project: &str,
) -> RouterCard {
    let view = &input.view;
    let posteriors: Vec<ArmPosterior> = view
        .arms
        .iter()
        .map(|arm| ArmPosterior { name: arm.id.clone(), mean: arm.mean, interval: arm.interval })
        .collect();
    let mean = |(turns, reward): (usize, Option<f64>)| {
        let reward = reward.map_or_else(|| "–".to_owned(), |reward| format!("{reward:.3}"));
        format!("{reward} over {turns} turns")
    };
    let latest_choices = input.choices.iter().map(|(ts, turn, choice)| ChoiceRow {
        when: DisplayTime::with_minutes(*ts),
        arm: choice.arm.clone(),
        propensity: format_percent(choice.propensity),
        turn: turn
            .as_ref()
            .map(|turn| TurnLink { id: turn.clone(), link: turn_link(filter, project, turn) }),
    });
    RouterCard {
        name: view.name.clone(),
        algorithm: humanize_name(&input.algorithm),
        densities: draw_posteriors(&posteriors),
        traffic: traffic_chart(input, window, bucket_hours),
        trend: format!("{}, previously {}", mean(view.trend.recent), mean(view.trend.before)),
        spent: format_number(view.spent_today),
        lead: view.lead.as_ref().map(|lead| {
            let [low, high] = lead.interval;
            let serving = if lead.serving { "serving" } else { "not serving yet" };
            format!("{:+.3} ({low:+.3} to {high:+.3}), {serving}", lead.estimate)
        }),
        faults: view.faults,
        latest_choices: latest_choices.collect(),
        arms: view.arms.clone(),
    }
}

/// The share of answers per arm and bucket.
fn traffic_chart(input: &RouterInput, window: Window, bucket_hours: u32) -> Chart {
    const HOUR: i64 = 3_600_000_000;
    let size = i64::from(bucket_hours.max(1));
    let hour = |ts: Timestamp| ts.as_micros().div_euclid(HOUR).div_euclid(size) * size;
    let (first, last) = (hour(window.start), hour(window.end));
    let moment = |hour: i64| {
        let shown = if size < 24 { TimePrecision::Minute } else { TimePrecision::Day };
        DisplayTime::new(Timestamp::from_micros(hour * HOUR), shown)
    };
    let (mut bars, mut rows) = (Vec::new(), Vec::new());
    let mut at = first;
    while at <= last && bars.len() < 1000 {
        let count = |hours: &BTreeMap<i64, u64>| hours.get(&at).map_or(0.0, |count| *count as f64);
        let counts: Vec<f64> = input.answered.iter().map(count).collect();
        let all: f64 = counts.iter().sum();
        let shares: Vec<f64> =
            counts.iter().map(|count| if all > 0.0 { count / all } else { 0.0 }).collect();
        let when = moment(at);
        let names = input.view.arms.iter().zip(&shares);
        let arm_shares: Vec<String> =
            names.map(|(arm, share)| format!("{} {}", arm.id, format_percent(*share))).collect();
        if all > 0.0 {
            rows.push((when.clone(), shares.iter().copied().map(format_percent).collect()));
        }
        bars.push((shares, format!("{}: {} answers; {}", when.text, all, arm_shares.join(", "))));
        at += size;
    }
    let range = AxisRange { low: 0.0, high: 1.0 };
    let summary = "Share of answers per model over time".to_owned();
    Chart {
        title: "Traffic over time".to_owned(),
        svg: chart::draw_bar_chart(&bars, range, 3, &summary).replace("bar part-", "bar series-"),
        levels: range.levels(3).into_iter().map(|level| format!("{:.0}%", level * 100.0)).collect(),
        ends: (!bars.is_empty()).then(|| (moment(first), moment(last))),
        columns: vec!["From"],
        more_columns: input.view.arms.iter().map(|arm| arm.id.clone()).collect(),
        rows,
        summary,
    }
}
