//! The report as one file: what the overview, the failures and the routers show, for people without the server.
//!
//! Nothing in it leads anywhere or asks for anything: styles are in it, and no script is needed.

use askama::Template;
use engine::{FailureReport, ListedConversation, QualityBucket, TurnView};
use model::{Scope, Timestamp};
use report::{Figure, Reading};

use crate::conversations::Row;
use crate::failures::{Found, found_of};
use crate::figures;
use crate::filter::Filter;
use crate::moment::{Moment, date};
use crate::number;
use crate::overview::{Overview, Readings};
use crate::routing::{Router, RouterReadings, Routing};
use crate::shell::Shell;
use crate::timeline::ShownTurn;

/// What was read for it.
#[derive(Debug)]
pub struct PaperReadings {
    /// Whose it is.
    pub scope: Scope,
    /// When it is made.
    pub at: Timestamp,
    /// What the overview shows.
    pub overview: Readings,
    /// What goes wrong, in patterns.
    pub failures: std::sync::Arc<FailureReport>,
    /// The conversations of which most went wrong, each with the turn that is shown.
    pub worst: Vec<(ListedConversation, TurnView)>,
    /// What each model answered, those that answered most first.
    pub models: Vec<(String, QualityBucket)>,
    /// Routers.
    pub routers: Vec<RouterReadings>,
}

/// A way in which answers went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What people call it.
    pub name: &'static str,
    /// What it counts.
    pub about: &'static str,
    /// How often.
    pub count: String,
    /// Out of how many, as a percentage.
    pub share: String,
    /// The same from 0 to 100.
    pub percent: u8,
    /// Where that lies with 95% certainty.
    pub interval: String,
    /// Out of how many.
    pub out_of: String,
}

/// A conversation of which much went wrong.
#[derive(Clone, Debug)]
pub struct Worst {
    /// As on the list.
    pub row: Row,
    /// The turn that shows it.
    pub turn: ShownTurn,
}

/// What a model answered.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// How many answers.
    pub answers: String,
    /// Figures: a value, and where it lies.
    pub figures: Vec<(String, String)>,
}

/// The file.
#[derive(Debug, Template)]
#[template(path = "paper.html")]
pub struct Paper {
    /// Its figures and charts.
    pub overview: Overview,
    /// Whose it is.
    pub tenant: String,
    /// Of which project.
    pub project: String,
    /// The first day.
    pub since: String,
    /// The last day.
    pub until: String,
    /// When it was made.
    pub made: Moment,
    /// Answers of this model or prompt only.
    pub only: Vec<(&'static str, String)>,
    /// Whether there is anything in the period.
    pub is_empty: bool,
    /// How answers went wrong, the most frequent first.
    pub reasons: Vec<Reason>,
    /// The worst conversations.
    pub worst: Vec<Worst>,
    /// Patterns among what went wrong.
    pub failures: Found,
    /// Models.
    pub models: Vec<Model>,
    /// Routers.
    pub routers: Vec<Router>,
}

/// What is told of each model beside how much it answered.
const OF_MODELS: [Figure; 5] = [
    Figure::Satisfaction,
    Figure::RejectionRate,
    Figure::ErrorRate,
    Figure::LatencyMedian,
    Figure::CostPerAccepted,
];

impl Paper {
    /// The file out of what was read.
    pub fn of(shell: &Shell, readings: PaperReadings) -> Self {
        let PaperReadings { scope, at, overview, failures, worst, models, routers } = readings;
        let (window, hours) = (overview.window, overview.bucket_hours);
        let now = report::sum_buckets(&overview.buckets);
        let filter = shell.filter.clone();
        let project = scope.project.as_str();
        let only = [("model", &filter.model), ("prompt", &filter.prompt)];
        Self {
            tenant: scope.tenant.to_string(),
            project: project.to_owned(),
            since: date(window.start),
            until: date(window.end),
            made: Moment::minute(at),
            only: only.into_iter().filter_map(|(by, name)| Some((by, name.clone()?))).collect(),
            is_empty: now.counts.turns <= 0,
            reasons: reasons(&now),
            worst: worst.iter().map(|one| worst_of(one, &filter, &scope)).collect(),
            failures: found_of(&failures, &filter, project, 0),
            models: models.iter().map(|(name, bucket)| model_of(name, bucket)).collect(),
            routers: Routing::of(shell.clone(), project, window, hours, &routers).routers,
            overview: without_links(Overview::of(shell.clone(), overview)),
        }
    }

    /// The styles, as they are.
    pub fn style(&self) -> &'static str {
        crate::asset::STYLE
    }

    /// The columns of the models' table.
    pub fn model_columns(&self) -> Vec<&'static str> {
        OF_MODELS.iter().map(|figure| figures::name(*figure)).collect()
    }

    /// Which program made it.
    pub fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}

/// Figures that lead nowhere: the server may not be there when the file is read.
fn without_links(mut overview: Overview) -> Overview {
    let cards = overview.targeted.iter_mut().chain(&mut overview.others);
    for card in cards {
        card.link.clear();
    }
    overview
}

fn reasons(now: &QualityBucket) -> Vec<Reason> {
    let figures = [
        Figure::RejectionRate,
        Figure::CorrectionRate,
        Figure::ErrorRate,
        Figure::RetryRate,
        Figure::AbandonmentRate,
        Figure::RefinementRate,
    ];
    let share = |figure: Figure| match figure.compute(now) {
        Reading::Share(rate) => {
            rate.value().filter(|_| rate.numerator > 0).map(|v| (figure, rate, v))
        }
        Reading::Seconds(..) | Reading::Mean(..) => None,
    };
    let mut found: Vec<_> = figures.into_iter().filter_map(share).collect();
    found.sort_by(|(_, _, one), (_, _, other)| other.total_cmp(one));
    let reason = |(figure, rate, value): (Figure, report::Rate, f64)| Reason {
        name: figures::name(figure),
        about: figures::about(figure),
        count: number::count(rate.numerator),
        share: number::percent(value),
        percent: (value * 100.0).clamp(0.0, 100.0).round() as u8,
        interval: rate
            .interval()
            .map_or_else(String::new, |(low, high)| figures::between(figure, low, high)),
        out_of: figures::out_of(figure, Reading::Share(rate)),
    };
    found.into_iter().map(reason).collect()
}

fn worst_of(
    (listed, view): &(ListedConversation, TurnView),
    filter: &Filter,
    scope: &Scope,
) -> Worst {
    Worst { row: Row::of(listed, filter), turn: ShownTurn::alone(view, filter, scope) }
}

fn model_of(name: &str, bucket: &QualityBucket) -> Model {
    let told = |figure: &Figure| {
        let found = figure.compute(bucket);
        let value = found.value().map(|value| figures::shown(*figure, value));
        let interval = found.interval().map(|(low, high)| figures::between(*figure, low, high));
        (value.unwrap_or_else(|| "–".to_owned()), interval.unwrap_or_default())
    };
    Model {
        name: name.to_owned(),
        answers: number::count(bucket.counts.answered.unsigned_abs()),
        figures: OF_MODELS.iter().map(told).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_those_that_happened_the_most_frequent_first() {
        let mut bucket = QualityBucket::default();
        bucket.counts.turns = 100;
        bucket.counts.answered = 100;
        bucket.counts.rejected = 5;
        bucket.counts.failed = 20;
        let found = reasons(&bucket);
        let names: Vec<&str> = found.iter().map(|reason| reason.name).collect();
        assert_eq!(names, ["Errors", "Rejections"]);
        assert_eq!((found[0].count.as_str(), found[0].percent), ("20", 20));
        assert!(found[0].interval.contains('–'), "{:?}", found[0]);
    }
}
