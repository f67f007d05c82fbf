//! The data page: preference pairs, review queue and detector calibration.

use askama::Template;
use engine::{CalibrationReport, PreferencePair, TurnView};

use crate::chart::{self, AxisRange, ChartPoint};
use crate::highlight::HighlightedText;
use crate::layout::PageLayout;
use crate::number_format::{format_count, format_percent};
use crate::timeline::TurnCard;

#[derive(Clone, Debug)]
pub struct PairPreview {
    pub source: String,
    pub confidence: String,
    pub link: String,
    pub question: HighlightedText,
    pub better: HighlightedText,
    pub worse: HighlightedText,
}

#[derive(Clone, Debug)]
pub struct ExportLink {
    pub format: &'static str,
    pub about: &'static str,
    pub link: String,
}

#[derive(Debug, Template)]
#[template(path = "data.html")]
pub struct DataPage {
    pub layout: PageLayout,
    pub project: String,
    pub pairs: Vec<PairPreview>,
    pub formats: Vec<ExportLink>,
    pub queue: Vec<TurnCard>,
    pub whole_queue: String,
    pub labels: String,
    pub labels_needed: String,
    pub percent: u8,
    pub curve: String,
    pub reliability: String,
    pub bins: Vec<[String; 5]>,
}

#[derive(Debug)]
pub struct DataPageInput {
    pub pairs: Vec<PreferencePair>,
    pub waiting: Vec<TurnView>,
    pub calibration: CalibrationReport,
}

const PAIRS_PER_SOURCE: usize = 3;

const EXPORT_FORMATS: [(&str, &str); 5] = [
    ("dpo", "pairs of a chosen and a rejected answer (TRL)"),
    ("kto", "answers labelled good or bad (TRL)"),
    ("sft", "good answers only"),
    ("reward", "pairs for a reward model"),
    ("openai_dpo", "pairs in the OpenAI format"),
];

impl DataPage {
    pub fn new(layout: PageLayout, scope: &model::Scope, readings: &DataPageInput) -> Self {
        let (filter, project) = (layout.filter.clone(), scope.project.as_str());
        let found = &readings.calibration;
        let share = found.labels as f64 / found.labels_needed.max(1) as f64;
        let export = |(format, about): (&'static str, &'static str)| {
            let link = filter.place_link("/data/pairs", project, &[("format", format)]);
            ExportLink { format, about, link }
        };
        Self {
            project: project.to_owned(),
            pairs: limit_per_source(&readings.pairs)
                .map(|one| pair_preview(one, &filter, project))
                .collect(),
            formats: EXPORT_FORMATS.into_iter().map(export).collect(),
            queue: readings
                .waiting
                .iter()
                .map(|view| TurnCard::standalone(view, &filter, scope))
                .collect(),
            whole_queue: filter.link_with("/conversations", &[("show", "to_review")]),
            labels: format_count(found.labels as u64),
            labels_needed: format_count(found.labels_needed as u64),
            percent: (share * 100.0).clamp(0.0, 100.0).round() as u8,
            curve: describe_calibration(found),
            reliability: draw_calibration(found),
            bins: found
                .reliability
                .iter()
                .map(|bin| {
                    [
                        format!("{:.0}–{:.0}%", bin.from * 100.0, bin.to * 100.0),
                        format_percent(bin.confidence),
                        format_percent(bin.calibrated),
                        format_percent(bin.right),
                        format_count(bin.labels as u64),
                    ]
                })
                .collect(),
            layout,
        }
    }
}

/// Limits the pairs per source, so that a frequent source does not hide the others.
fn limit_per_source(pairs: &[PreferencePair]) -> impl Iterator<Item = &PreferencePair> {
    let is_shown = |(at, pair): &(usize, &PreferencePair)| {
        pairs[..*at].iter().filter(|other| other.source == pair.source).count() < PAIRS_PER_SOURCE
    };
    pairs.iter().enumerate().filter(is_shown).map(|(_, pair)| pair)
}

fn pair_preview(found: &PreferencePair, filter: &crate::Filter, project: &str) -> PairPreview {
    let link = |turn: &String| crate::failures::turn_link(filter, project, turn);
    PairPreview {
        source: found.source.clone(),
        confidence: format!("{:.0}%", found.confidence * 100.0),
        link: found.turn.as_ref().map_or_else(String::new, link),
        question: HighlightedText::plain(&found.question),
        better: HighlightedText::plain(&found.better),
        worse: HighlightedText::plain(&found.worse),
    }
}

fn describe_calibration(found: &CalibrationReport) -> String {
    match (&found.curve, found.error) {
        (Some(_), Some((without, with))) => format!(
            "Confidence is calibrated for this project: squared error {with:.3} on held-out labels, uncalibrated {without:.3}."
        ),
        (Some(_), None) => "Confidence is calibrated for this project.".to_owned(),
        (None, _) if found.labels >= found.labels_needed => {
            "Confidence is not calibrated: a curve fitted to this project would not reduce the error."
                .to_owned()
        }
        (None, _) => "Confidence is not calibrated until there are enough labels.".to_owned(),
    }
}

/// Draws the share of correct verdicts by confidence.
fn draw_calibration(found: &CalibrationReport) -> String {
    if found.reliability.is_empty() {
        return String::new();
    }
    let point = |bin: u32| {
        let from = f64::from(bin) / 10.0;
        let known = found.reliability.iter().find(|one| (one.from - from).abs() < 1e-9);
        known.map_or_else(ChartPoint::default, |one| {
            let rate = engine::report::Rate {
                numerator: (one.right * one.labels as f64).round() as u64,
                denominator: one.labels as u64,
            };
            let tooltip = format!(
                "mean confidence {}, correct {} of the time, {} labels",
                format_percent(one.calibrated),
                format_percent(one.right),
                one.labels
            );
            ChartPoint { value: Some(one.right), interval: rate.interval(), tooltip }
        })
    };
    let points: Vec<ChartPoint> = (0..10).map(point).collect();
    let label = "Share of correct verdicts by confidence";
    chart::draw_reliability(&points, AxisRange { low: 0.0, high: 1.0 }, label)
}
