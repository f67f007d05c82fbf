//! The experiments page: results, daily charts, guardrails and rollout.

mod daily_chart;

use askama::Template;
use engine::experiment::{
    ExperimentResults, ExperimentStatus, ExperimentUnit, ExperimentVerdict, Metric,
    VariantComparison, VerdictReason,
};
use engine::{ExperimentView, SequencePoint};
use model::encode_path_segment;

use crate::chart::{self, Chart, Whisker};
use crate::chip::Chip;
use crate::display_time::DisplayTime;
use crate::filter::Filter;
use crate::highlight::humanize_name;
use crate::layout::PageLayout;
use crate::number_format::{format_count, format_number, format_percent, format_seconds};
use daily_chart::daily_charts;

const SAMPLE_RATIO_WARNING: &str = "Sample ratio mismatch: the variants did not receive their \
    configured shares. Check assignment and exposure logging.";

#[derive(Clone, Debug)]
pub struct VariantRow {
    pub name: String,
    pub share: String,
    pub units: String,
    pub mean: String,
    pub interval: String,
}

/// A treatment compared with the control.
#[derive(Clone, Debug)]
pub struct ComparisonRow {
    pub variant: String,
    pub estimate: String,
    pub interval: String,
    pub p: String,
    pub verdict: Chip,
}

/// Labels at the ends of the comparison plot's axis.
#[derive(Clone, Debug, Default)]
pub struct AxisLabels {
    pub low: String,
    pub high: String,
}

/// A change of the traffic shares.
#[derive(Clone, Debug)]
pub struct RolloutStep {
    pub when: DisplayTime,
    pub change: String,
    pub reason: String,
}

#[derive(Clone, Debug)]
pub struct ExperimentCard {
    pub id: String,
    pub name: String,
    pub status: Chip,
    pub since: DisplayTime,
    pub about: String,
    pub verdict: Chip,
    pub variants: Vec<VariantRow>,
    pub against: Vec<ComparisonRow>,
    pub plot: String,
    pub scale: AxisLabels,
    pub sequences: Vec<(String, Chart)>,
    pub too_many_days: bool,
    pub guardrails: Vec<Chip>,
    pub warning: Option<String>,
    pub progress: Option<(u8, String)>,
    pub steps: Vec<RolloutStep>,
    pub actions: Vec<(&'static str, String)>,
}

#[derive(Debug, Template)]
#[template(path = "experiments.html")]
pub struct ExperimentsPage {
    pub layout: PageLayout,
    pub project: String,
    pub trials: Vec<ExperimentCard>,
    pub next: Option<String>,
    pub may_act: bool,
}

impl ExperimentCard {
    /// `days` is `None` when there are too many days for a daily chart.
    pub fn new(
        view: &ExperimentView,
        results: &ExperimentResults,
        days: Option<&[SequencePoint]>,
        filter: &Filter,
        project: &str,
    ) -> Self {
        let metric = view.definition.metric;
        let shares = view.shares();
        let variants =
            results.variants.iter().zip(shares.as_slice()).map(|(one, share)| VariantRow {
                name: one.name.clone(),
                share: format_percent(*share),
                units: format_count(one.units),
                mean: format_mean(metric, one.mean),
                interval: one.interval.map_or_else(String::new, |bounds| {
                    let [low, high] = clamp_interval(metric, bounds);
                    format!("{}–{}", format_metric(metric, low), format_metric(metric, high))
                }),
            });
        let (plot, scale) = plot_comparisons(metric, &results.comparisons);
        let path = format!("/experiments/{}", encode_path_segment(view.id.as_str()));
        let action =
            |word: &'static str| (word, filter.place_link(&format!("{path}/{word}"), project, &[]));
        let guardrails = results.guardrails.iter().map(|one| {
            let name = humanize_name(one.metric.word());
            let mean = format_mean(one.metric, one.mean);
            let limit = format_metric(one.metric, one.limit);
            let class = if one.crossed { "bad" } else { "good" };
            Chip::new(class, format!("{}: {name} {mean}, limit {limit}", one.variant))
        });
        let steps = view.moves.iter().map(|one| {
            let reason = one.step.get("why").or_else(|| one.step.get("reason"));
            let reason = reason.and_then(|why| why.as_str()).map(humanize_name).unwrap_or_default();
            let when = DisplayTime::with_minutes(one.ts);
            RolloutStep { when, change: describe_step(&one.step), reason }
        });
        let actions = view.status.allowed_actions().iter().map(|(one, _)| action(one.word()));
        Self {
            id: view.id.to_string(),
            name: view.definition.name.clone(),
            status: status_chip(view.status),
            since: DisplayTime::with_minutes(view.changed),
            about: format!("{} by {}", humanize_name(metric.word()), unit_label(view)),
            verdict: verdict_chip(results.verdict, results.why),
            variants: variants.collect(),
            against: results.comparisons.iter().map(|one| comparison_row(metric, one)).collect(),
            plot,
            scale,
            sequences: daily_charts(metric, results, days.unwrap_or_default()),
            too_many_days: days.is_none(),
            guardrails: guardrails.collect(),
            warning: (!results.srm.ok).then(|| SAMPLE_RATIO_WARNING.to_owned()),
            progress: view.rollout.map(|state| {
                let label = if state.rolled_back {
                    "rolled back".to_owned()
                } else {
                    format!("{}% of units", state.percent)
                };
                (state.percent.clamp(0.0, 100.0).round() as u8, label)
            }),
            steps: steps.collect(),
            actions: actions.collect(),
        }
    }
}

fn unit_label(view: &ExperimentView) -> &'static str {
    match view.definition.unit {
        ExperimentUnit::User => "user",
        ExperimentUnit::Conversation => "conversation",
    }
}

fn describe_step(fields: &serde_json::Map<String, serde_json::Value>) -> String {
    let text = |name: &str| match fields.get(name) {
        Some(serde_json::Value::Number(percent)) => format!("{percent}%"),
        Some(serde_json::Value::Array(shares)) => {
            let shares = shares.iter().filter_map(serde_json::Value::as_f64);
            shares.map(format_percent).collect::<Vec<_>>().join(" / ")
        }
        Some(_) | None => "?".to_owned(),
    };
    format!("{} → {}", text("from"), text("to"))
}

fn format_metric(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Satisfaction
        | Metric::ErrorRate
        | Metric::RejectionRate
        | Metric::CorrectionRate
        | Metric::RetryRate => format_percent(value),
        Metric::Latency => format_seconds(value),
        Metric::Cost | Metric::QualityScore | Metric::Reward => format_number(value),
    }
}

fn format_mean(metric: Metric, mean: Option<f64>) -> String {
    mean.map_or_else(|| "–".to_owned(), |mean| format_metric(metric, mean))
}

/// Clamps an interval to the possible values of a mean.
fn clamp_interval(metric: Metric, [low, high]: [f64; 2]) -> [f64; 2] {
    let most = match metric {
        Metric::Satisfaction
        | Metric::ErrorRate
        | Metric::RejectionRate
        | Metric::CorrectionRate
        | Metric::RetryRate
        | Metric::QualityScore
        | Metric::Reward => 1.0,
        Metric::Latency | Metric::Cost => f64::INFINITY,
    };
    [low.max(0.0), high.min(most)]
}

/// Very small p-values are shown as a bound instead of zero.
fn format_p_value(value: f64) -> String {
    if value < 0.001 { "< 0.001".to_owned() } else { format!("{value:.3}") }
}

fn format_difference(metric: Metric, value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    format!("{sign}{}", format_metric(metric, value.abs()))
}

fn format_differences(metric: Metric, [low, high]: [f64; 2]) -> String {
    format!("{} to {}", format_difference(metric, low), format_difference(metric, high))
}

fn status_chip(status: ExperimentStatus) -> Chip {
    let class = match status {
        ExperimentStatus::Running => "good",
        ExperimentStatus::Paused => "unsure",
        ExperimentStatus::Draft | ExperimentStatus::Completed | ExperimentStatus::Archived => {
            "none"
        }
    };
    Chip::new(class, status.word().to_lowercase())
}

fn verdict_chip(verdict: ExperimentVerdict, why: VerdictReason) -> Chip {
    let (class, words) = match verdict {
        ExperimentVerdict::Undecided => ("none", "undecided"),
        ExperimentVerdict::Better => ("good", "better"),
        ExperimentVerdict::Worse => ("bad", "worse"),
        ExperimentVerdict::NoVerdict => ("unsure", "no verdict"),
    };
    let why = match why {
        VerdictReason::TooFewUnits => "too few units",
        VerdictReason::ZeroInside => "the confidence interval includes zero",
        VerdictReason::ZeroOutside => "the confidence interval excludes zero",
        VerdictReason::GuardrailCrossed => "a guardrail was crossed",
        VerdictReason::SampleRatioMismatch => "sample ratio mismatch",
    };
    Chip::new(class, format!("{words}: {why}"))
}

fn comparison_row(metric: Metric, one: &VariantComparison) -> ComparisonRow {
    // The CUPED estimate decides the verdict when it exists.
    let found = one.cuped.or(one.difference);
    ComparisonRow {
        variant: one.variant.clone(),
        estimate: found
            .map_or_else(|| "–".to_owned(), |found| format_difference(metric, found.estimate)),
        interval: found
            .map_or_else(String::new, |found| format_differences(metric, found.interval)),
        p: found.map_or_else(String::new, |found| format_p_value(found.p_always_valid)),
        verdict: verdict_chip(one.verdict, one.why),
    }
}

fn plot_comparisons(metric: Metric, comparisons: &[VariantComparison]) -> (String, AxisLabels) {
    let whisker = |one: &VariantComparison| {
        let found = one.cuped.or(one.difference)?;
        let [low, high] = found.interval;
        let (estimate, interval) =
            (format_difference(metric, found.estimate), format_differences(metric, found.interval));
        let tooltip = format!("{}: {estimate} ({interval})", one.variant);
        Some(Whisker { value: found.estimate, low, high, tooltip })
    };
    let whiskers: Vec<Whisker> = comparisons.iter().filter_map(whisker).collect();
    if whiskers.is_empty() {
        return (String::new(), AxisLabels::default());
    }
    let reach = whiskers.iter().map(|one| one.low.abs().max(one.high.abs())).fold(0.0, f64::max);
    let reach = if reach > 0.0 { reach } else { 1.0 };
    let svg = chart::draw_whiskers(
        &whiskers,
        reach,
        "Differences from the control with anytime-valid confidence intervals",
    );
    let low = format_difference(metric, -reach);
    (svg, AxisLabels { low, high: format_difference(metric, reach) })
}

#[cfg(test)]
mod tests {
    use engine::experiment::{ExperimentDefinition, ExperimentEvidence, compute_results};
    use model::{ExperimentId, Position, Timestamp};

    use super::*;
    use crate::layout::View;

    /// Renders an experiment that just started.
    fn render_page(days: Option<&[SequencePoint]>) -> String {
        let definition: ExperimentDefinition = serde_json::from_value(serde_json::json!({
            "name": "a", "unit": "user", "metric": "satisfaction",
            "variants": [{"name": "control"}, {"name": "treatment"}]}))
        .unwrap();
        let found = compute_results(
            &definition,
            ExperimentStatus::Running,
            &ExperimentEvidence::new(&definition),
        );
        let view = ExperimentView {
            id: ExperimentId::new("a").unwrap(),
            position: Position(1),
            status: ExperimentStatus::Running,
            created: Timestamp::from_micros(0),
            changed: Timestamp::from_micros(0),
            rollout: None,
            moves: Vec::new(),
            definition,
        };
        let layout = PageLayout::test_layout(View::Experiments);
        let trials = vec![ExperimentCard::new(&view, &found, days, &layout.filter, "default")];
        let project = "default".to_owned();
        ExperimentsPage { layout, project, trials, next: None, may_act: true }.to_string()
    }

    #[test]
    fn too_many_days_replace_the_daily_chart_with_a_note() {
        assert!(render_page(None).contains("too many days or share changes"));
        assert!(!render_page(Some(&[])).contains("Over time"));
    }

    #[test]
    fn intervals_are_clamped_to_possible_means() {
        assert_eq!(clamp_interval(Metric::RejectionRate, [-0.02, 1.1]), [0.0, 1.0]);
        assert_eq!(clamp_interval(Metric::Latency, [-0.5, 7.5]), [0.0, 7.5]);
        assert_eq!(
            (format_p_value(0.0), format_p_value(0.04)),
            ("< 0.001".to_owned(), "0.040".to_owned())
        );
    }
}
