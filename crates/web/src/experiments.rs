//! Experiments: which variant is better, how sure that is, and how far it is rolled out.

mod sequence;

use askama::Template;
use engine::experiment::{
    ExperimentResults, ExperimentStatus, ExperimentUnit, ExperimentVerdict, Metric,
    VariantComparison, VerdictReason,
};
use engine::{ExperimentView, SequencePoint};

use crate::chart::{self, Chart, Whisker};
use crate::filter::{Filter, encoded};
use crate::moment::Moment;
use crate::number;
use crate::shell::Shell;
use sequence::sequences;

/// A variant of an experiment.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The share of units that come now.
    pub share: String,
    /// Units that were exposed to it.
    pub units: String,
    /// What was measured, with its interval.
    pub mean: String,
    /// Where it lies with 95% certainty.
    pub interval: String,
}

/// A treatment against the control.
#[derive(Clone, Debug)]
pub struct Against {
    /// Which.
    pub variant: String,
    /// How much more, with its sign.
    pub estimate: String,
    /// Where it lies, whenever one looks.
    pub interval: String,
    /// Always valid.
    pub p: String,
    /// A class and words.
    pub verdict: (&'static str, String),
}

/// A move of the shares.
#[derive(Clone, Debug)]
pub struct Step {
    /// When.
    pub when: Moment,
    /// From where to where.
    pub what: String,
    /// Why.
    pub why: String,
}

/// An experiment on the page.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Where it stands: a class and a word.
    pub status: (&'static str, String),
    /// Since when.
    pub since: Moment,
    /// What is measured, over whom.
    pub about: String,
    /// What it says so far: a class and words.
    pub verdict: (&'static str, String),
    /// Its variants.
    pub variants: Vec<Variant>,
    /// Treatments against the control.
    pub against: Vec<Against>,
    /// The differences, drawn.
    pub plot: String,
    /// Labels of the plot: the least, nothing, the most.
    pub scale: (String, String),
    /// How the differences and their intervals came about, day by day: one chart for each treatment.
    pub sequences: Vec<(String, Chart)>,
    /// There are too many days to show that.
    pub too_many_days: bool,
    /// Guardrails: words, and whether one is crossed.
    pub guardrails: Vec<(String, bool)>,
    /// What is wrong with the numbers themselves.
    pub warning: Option<String>,
    /// How far a rollout has come.
    pub progress: Option<(u8, String)>,
    /// Its steps.
    pub steps: Vec<Step>,
    /// What can be done: the word and where the form goes.
    pub actions: Vec<(&'static str, String)>,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "experiments.html")]
pub struct Experiments {
    /// The frame.
    pub shell: Shell,
    /// The project.
    pub project: String,
    /// The experiments, the newest first.
    pub trials: Vec<Trial>,
    /// The next page.
    pub next: Option<String>,
    /// Whether the visitor may do anything with them.
    pub may_act: bool,
}

impl Trial {
    /// An experiment with what it says.
    pub fn of(
        view: &ExperimentView,
        results: &ExperimentResults,
        days: Option<&[SequencePoint]>,
        filter: &Filter,
        project: &str,
    ) -> Self {
        let metric = view.definition.metric;
        let shares = view.shares();
        let variants = results.variants.iter().zip(shares.as_slice()).map(|(one, share)| Variant {
            name: one.name.clone(),
            share: number::percent(*share),
            units: number::count(one.units),
            mean: one.mean.map_or_else(|| "–".to_owned(), |mean| shown(metric, mean)),
            interval: one.interval.map_or_else(String::new, |bounds| {
                let [low, high] = possible(metric, bounds);
                format!("{}–{}", shown(metric, low), shown(metric, high))
            }),
        });
        let (plot, scale) = plot(metric, &results.comparisons);
        let path = format!("/experiments/{}", encoded(view.id.as_str()));
        let action =
            |word: &'static str| (word, filter.place_link(&format!("{path}/{word}"), project, &[]));
        Self {
            id: view.id.to_string(),
            name: view.definition.name.clone(),
            status: status(view.status),
            since: Moment::minute(view.changed),
            about: format!("{} by {}", crate::marked::words(metric.word()), unit(view)),
            verdict: verdict(results.verdict, results.why),
            variants: variants.collect(),
            against: results.comparisons.iter().map(|one| against(metric, one)).collect(),
            plot,
            scale,
            sequences: sequences(metric, results, days.unwrap_or_default()),
            too_many_days: days.is_none(),
            guardrails: results.guardrails.iter().map(|one| {
                let word = crate::marked::words(one.metric.word());
                let mean = one.mean.map_or_else(|| "–".to_owned(), |mean| shown(one.metric, mean));
                (format!("{}: {word} {mean}, limit {}", one.variant, shown(one.metric, one.limit)), one.crossed)
            }).collect(),
            warning: (!results.srm.ok).then(|| {
                "The variants did not get their parts of the units: something assigns or counts wrongly".to_owned()
            }),
            progress: view.rollout.map(|state| {
                let words = if state.rolled_back { "rolled back".to_owned() } else { format!("{}% of units", state.percent) };
                (state.percent.clamp(0.0, 100.0).round() as u8, words)
            }),
            steps: view.moves.iter().map(|one| Step {
                when: Moment::minute(one.ts),
                what: step(&one.step),
                why: one.step.get("why").or_else(|| one.step.get("reason")).and_then(|why| why.as_str()).map(crate::marked::words).unwrap_or_default(),
            }).collect(),
            actions: view.status.allowed_actions().iter().map(|(one, _)| action(one.word())).collect(),
        }
    }
}

fn unit(view: &ExperimentView) -> &'static str {
    match view.definition.unit {
        ExperimentUnit::User => "user",
        ExperimentUnit::Conversation => "conversation",
    }
}

fn step(fields: &serde_json::Map<String, serde_json::Value>) -> String {
    let text = |name: &str| match fields.get(name) {
        Some(serde_json::Value::Number(percent)) => format!("{percent}%"),
        Some(serde_json::Value::Array(shares)) => {
            let shares = shares.iter().filter_map(serde_json::Value::as_f64);
            shares.map(number::percent).collect::<Vec<_>>().join(" / ")
        }
        Some(_) | None => "?".to_owned(),
    };
    format!("{} → {}", text("from"), text("to"))
}

fn shown(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Satisfaction
        | Metric::ErrorRate
        | Metric::RejectionRate
        | Metric::CorrectionRate
        | Metric::RetryRate => number::percent(value),
        Metric::Latency => number::seconds(value),
        Metric::Cost | Metric::QualityScore | Metric::Reward => number::plain(value),
    }
}

/// The part of an interval that a mean can be in.
fn possible(metric: Metric, [low, high]: [f64; 2]) -> [f64; 2] {
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

/// Nearly nothing is not nothing.
fn p(value: f64) -> String {
    if value < 0.001 { "< 0.001".to_owned() } else { format!("{value:.3}") }
}

fn more(metric: Metric, value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    format!("{sign}{}", shown(metric, value.abs()))
}

fn status(status: ExperimentStatus) -> (&'static str, String) {
    let class = match status {
        ExperimentStatus::Running => "good",
        ExperimentStatus::Paused => "unsure",
        ExperimentStatus::Draft | ExperimentStatus::Completed | ExperimentStatus::Archived => {
            "none"
        }
    };
    (class, status.word().to_lowercase())
}

fn verdict(verdict: ExperimentVerdict, why: VerdictReason) -> (&'static str, String) {
    let (class, words) = match verdict {
        ExperimentVerdict::Undecided => ("none", "undecided"),
        ExperimentVerdict::Better => ("good", "better"),
        ExperimentVerdict::Worse => ("bad", "worse"),
        ExperimentVerdict::NoVerdict => ("unsure", "no verdict"),
    };
    let why = match why {
        VerdictReason::TooFewUnits => "too few units yet",
        VerdictReason::ZeroInside => "no difference is still possible",
        VerdictReason::ZeroOutside => "no difference is excluded",
        VerdictReason::GuardrailCrossed => "a guardrail is crossed",
        VerdictReason::SampleRatioMismatch => "the variants did not get their parts",
    };
    (class, format!("{words}: {why}"))
}

fn against(metric: Metric, one: &VariantComparison) -> Against {
    // Corrected by what units did before, it decides where it is there.
    let found = one.cuped.or(one.difference);
    Against {
        variant: one.variant.clone(),
        estimate: found.map_or_else(|| "–".to_owned(), |found| more(metric, found.estimate)),
        interval: found.map_or_else(String::new, |found| {
            let [low, high] = found.interval;
            format!("{} to {}", more(metric, low), more(metric, high))
        }),
        p: found.map_or_else(String::new, |found| p(found.p_always_valid)),
        verdict: verdict(one.verdict, one.why),
    }
}

fn plot(metric: Metric, comparisons: &[VariantComparison]) -> (String, (String, String)) {
    let whisker = |one: &VariantComparison| {
        let found = one.cuped.or(one.difference)?;
        let [low, high] = found.interval;
        let told = format!(
            "{}: {} ({} to {})",
            one.variant,
            more(metric, found.estimate),
            more(metric, low),
            more(metric, high)
        );
        Some(Whisker { value: found.estimate, low, high, told })
    };
    let whiskers: Vec<Whisker> = comparisons.iter().filter_map(whisker).collect();
    if whiskers.is_empty() {
        return (String::new(), (String::new(), String::new()));
    }
    let reach = whiskers.iter().map(|one| one.low.abs().max(one.high.abs())).fold(0.0, f64::max);
    let reach = if reach > 0.0 { reach } else { 1.0 };
    let svg = chart::whiskers(
        &whiskers,
        reach,
        "Differences from the control with intervals that hold at every look",
    );
    (svg, (more(metric, -reach), more(metric, reach)))
}

#[cfg(test)]
mod tests {
    use engine::experiment::{ExperimentDefinition, ExperimentEvidence, compute_results};
    use model::{ExperimentId, Position, Timestamp};

    use super::*;
    use crate::shell::View;

    /// The page of an experiment that just began.
    fn page(days: Option<&[SequencePoint]>) -> String {
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
        let shell = Shell::around(View::Experiments);
        let trials = vec![Trial::of(&view, &found, days, &shell.filter, "default")];
        let project = "default".to_owned();
        Experiments { shell, project, trials, next: None, may_act: true }.to_string()
    }

    #[test]
    fn days_that_are_too_many_to_show_are_said_to_be() {
        assert!(page(None).contains("Too many days and moves of its shares"));
        assert!(!page(Some(&[])).contains("Over time"));
    }

    #[test]
    fn intervals_stay_where_means_can_be() {
        assert_eq!(possible(Metric::RejectionRate, [-0.02, 1.1]), [0.0, 1.0]);
        assert_eq!(possible(Metric::Latency, [-0.5, 7.5]), [0.0, 7.5]);
        assert_eq!((p(0.0), p(0.04)), ("< 0.001".to_owned(), "0.040".to_owned()));
    }
}
