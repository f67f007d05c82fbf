//! The quality report as one HTML file, readable without the server.
//!
//! The file contains its styles, and no links and no script.

use askama::Template;
use engine::report::{Figure, Reading};
use engine::{FailureReport, ListedConversation, QualityBucket, TurnView};
use model::{Scope, Timestamp};

use crate::conversations::ConversationRow;
use crate::display_time::{DisplayTime, format_date};
use crate::failures::{PatternList, pattern_list};
use crate::layout::PageLayout;
use crate::metric_card::{
    describe_denominator, format_interval, format_value, metric_description, metric_name,
};
use crate::number_format::{format_count, format_percent};
use crate::overview::{OverviewInput, OverviewPage};
use crate::routing::{RouterCard, RouterInput, RoutingPage};
use crate::timeline::TurnCard;

#[derive(Debug)]
pub struct ReportFileInput {
    pub scope: Scope,
    pub at: Timestamp,
    pub overview: OverviewInput,
    pub failures: std::sync::Arc<FailureReport>,
    pub worst: Vec<(ListedConversation, TurnView)>,
    pub models: Vec<(String, QualityBucket)>,
    pub routers: Vec<RouterInput>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureReason {
    pub name: &'static str,
    pub about: &'static str,
    pub count: String,
    pub share: String,
    pub percent: u8,
    pub interval: String,
    pub out_of: String,
}

#[derive(Clone, Debug)]
pub struct ModelSummary {
    pub name: String,
    pub answers: String,
    /// One cell per column of `MODEL_METRICS`.
    pub metrics: Vec<MetricCell>,
}

#[derive(Clone, Debug)]
pub struct MetricCell {
    pub value: String,
    /// Empty when the metric has no confidence interval.
    pub interval: String,
}

/// A conversation with the turn that shows the problem.
#[derive(Clone, Debug)]
pub struct WorstConversation {
    pub row: ConversationRow,
    pub turn: TurnCard,
}

#[derive(Debug, Template)]
#[template(path = "report_file.html")]
pub struct ReportFile {
    pub overview: OverviewPage,
    pub tenant: String,
    pub project: String,
    pub since: String,
    pub until: String,
    pub generated_at: DisplayTime,
    pub only: Vec<(&'static str, String)>,
    pub is_empty: bool,
    pub reasons: Vec<FailureReason>,
    pub worst: Vec<WorstConversation>,
    pub failures: PatternList,
    pub models: Vec<ModelSummary>,
    pub routers: Vec<RouterCard>,
}

/// Metrics in the table of models.
const MODEL_METRICS: [Figure; 5] = [
    Figure::Satisfaction,
    Figure::RejectionRate,
    Figure::ErrorRate,
    Figure::LatencyMedian,
    Figure::CostPerAccepted,
];

impl ReportFile {
    pub fn new(layout: &PageLayout, readings: ReportFileInput) -> Self {
        let ReportFileInput { scope, at, overview, failures, worst, models, routers } = readings;
        let (window, hours) = (overview.window, overview.bucket_hours);
        let now = engine::report::sum_buckets(&overview.buckets);
        let filter = layout.filter.clone();
        let project = scope.project.as_str();
        let only = [("model", &filter.model), ("prompt", &filter.prompt)];
        Self {
            tenant: scope.tenant.to_string(),
            project: project.to_owned(),
            since: format_date(window.start),
            until: format_date(window.end),
            generated_at: DisplayTime::with_minutes(at),
            only: only.into_iter().filter_map(|(by, name)| Some((by, name.clone()?))).collect(),
            is_empty: now.counts.turns <= 0,
            reasons: failure_reasons(&now),
            worst: worst
                .iter()
                .map(|(listed, view)| WorstConversation {
                    row: ConversationRow::from_listed(listed, &filter),
                    turn: TurnCard::standalone(view, &filter, &scope),
                })
                .collect(),
            failures: pattern_list(&failures, &filter, project, 0),
            models: models.iter().map(|(name, bucket)| model_summary(name, bucket)).collect(),
            routers: RoutingPage::new(layout.clone(), project, window, hours, &routers).routers,
            overview: remove_links(OverviewPage::new(layout.clone(), overview)),
        }
    }

    pub fn style(&self) -> &'static str {
        crate::assets::STYLE
    }

    pub fn model_columns(&self) -> Vec<&'static str> {
        MODEL_METRICS.iter().map(|figure| metric_name(*figure)).collect()
    }

    pub fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}

/// Removes links, because the server may be unreachable when the file is read.
fn remove_links(mut overview: OverviewPage) -> OverviewPage {
    let cards = overview.targeted.iter_mut().chain(&mut overview.others);
    for card in cards {
        card.link.clear();
    }
    overview
}

fn failure_reasons(now: &QualityBucket) -> Vec<FailureReason> {
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
    let reason = |(figure, rate, value): (Figure, engine::report::Rate, f64)| FailureReason {
        name: metric_name(figure),
        about: metric_description(figure),
        count: format_count(rate.numerator),
        share: format_percent(value),
        percent: (value * 100.0).clamp(0.0, 100.0).round() as u8,
        interval: rate
            .interval()
            .map_or_else(String::new, |(low, high)| format_interval(figure, low, high)),
        out_of: describe_denominator(figure, Reading::Share(rate)),
    };
    found.into_iter().map(reason).collect()
}

fn model_summary(name: &str, bucket: &QualityBucket) -> ModelSummary {
    let cell = |figure: &Figure| {
        let found = figure.compute(bucket);
        let value = found.value().map(|value| format_value(*figure, value));
        let interval = found.interval().map(|(low, high)| format_interval(*figure, low, high));
        MetricCell {
            value: value.unwrap_or_else(|| "–".to_owned()),
            interval: interval.unwrap_or_default(),
        }
    };
    ModelSummary {
        name: name.to_owned(),
        answers: format_count(bucket.counts.answered.unsigned_abs()),
        metrics: MODEL_METRICS.iter().map(cell).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_reasons_are_sorted_by_frequency_without_zeros() {
        let mut bucket = QualityBucket::default();
        bucket.counts.turns = 100;
        bucket.counts.answered = 100;
        bucket.counts.rejected = 5;
        bucket.counts.failed = 20;
        let found = failure_reasons(&bucket);
        let names: Vec<&str> = found.iter().map(|reason| reason.name).collect();
        assert_eq!(names, ["Error rate", "Rejection rate"]);
        assert_eq!((found[0].count.as_str(), found[0].percent), ("20", 20));
        assert!(found[0].interval.contains('–'), "{:?}", found[0]);
    }
}
