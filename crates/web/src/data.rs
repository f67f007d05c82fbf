//! Data for training, and verdicts that wait for a person.

use askama::Template;
use engine::{CalibrationReport, PreferencePair, TurnView};

use crate::chart::{self, Point, Range};
use crate::marked::Said;
use crate::number;
use crate::shell::Shell;
use crate::timeline::ShownTurn;

/// A better and a worse answer.
#[derive(Clone, Debug)]
pub struct Pair {
    /// How we know, in a word.
    pub source: String,
    /// How sure, as a percentage.
    pub sure: String,
    /// Where it comes from.
    pub link: String,
    /// What was asked.
    pub question: Said,
    /// What should have been answered.
    pub better: Said,
    /// What was answered.
    pub worse: Said,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "data.html")]
pub struct Data {
    /// The frame.
    pub shell: Shell,
    /// The project.
    pub project: String,
    /// Pairs out of the newest conversations.
    pub pairs: Vec<Pair>,
    /// Formats to download: a word, what it is, where it is.
    pub formats: Vec<(&'static str, &'static str, String)>,
    /// Verdicts that wait for a person.
    pub queue: Vec<ShownTurn>,
    /// The rest of them.
    pub whole_queue: String,
    /// How many labels there are, and how many are needed.
    pub labels: (String, String),
    /// The same from 0 to 100.
    pub percent: u8,
    /// What became of the labels, in a sentence.
    pub curve: String,
    /// How right confidences are, drawn.
    pub reliability: String,
    /// The same as a table: from-to, said, calibrated, right, labels.
    pub bins: Vec<[String; 5]>,
}

/// What was read for it.
#[derive(Debug)]
pub struct DataReadings {
    /// Pairs out of the newest conversations.
    pub pairs: Vec<PreferencePair>,
    /// Turns whose verdict waits.
    pub waiting: Vec<TurnView>,
    /// How right confidences are.
    pub calibration: CalibrationReport,
}

/// Pairs of one source that are shown.
const OF_A_SOURCE: usize = 3;

/// The formats of an export.
const FORMATS: [(&str, &str); 5] = [
    ("dpo", "pairs of a better and a worse answer (TRL)"),
    ("kto", "answers, each good or bad (TRL)"),
    ("sft", "good answers only"),
    ("reward", "pairs for a reward model"),
    ("openai_dpo", "pairs as OpenAI takes them"),
];

impl Data {
    /// The page out of what was read.
    pub fn of(shell: Shell, scope: &model::Scope, readings: &DataReadings) -> Self {
        let (filter, project) = (shell.filter.clone(), scope.project.as_str());
        let found = &readings.calibration;
        let share = found.labels as f64 / found.labels_needed.max(1) as f64;
        let format = |(word, about): (&'static str, &'static str)| {
            (word, about, filter.place_link("/data/pairs", project, &[("format", word)]))
        };
        Self {
            project: project.to_owned(),
            pairs: some_of_each(&readings.pairs)
                .map(|one| pair_of(one, &filter, project))
                .collect(),
            formats: FORMATS.into_iter().map(format).collect(),
            queue: readings
                .waiting
                .iter()
                .map(|view| ShownTurn::alone(view, &filter, scope))
                .collect(),
            whole_queue: filter.link_with("/conversations", &[("show", "to_review")]),
            labels: (number::count(found.labels as u64), number::count(found.labels_needed as u64)),
            percent: (share * 100.0).clamp(0.0, 100.0).round() as u8,
            curve: curve(found),
            reliability: drawn(found),
            bins: found
                .reliability
                .iter()
                .map(|bin| {
                    [
                        format!("{:.0}–{:.0}%", bin.from * 100.0, bin.to * 100.0),
                        number::percent(bin.confidence),
                        number::percent(bin.calibrated),
                        number::percent(bin.right),
                        number::count(bin.labels as u64),
                    ]
                })
                .collect(),
            shell,
        }
    }
}

/// A few of each source, so that one that has many does not hide the others.
fn some_of_each(pairs: &[PreferencePair]) -> impl Iterator<Item = &PreferencePair> {
    let is_shown = |(at, pair): &(usize, &PreferencePair)| {
        pairs[..*at].iter().filter(|other| other.source == pair.source).count() < OF_A_SOURCE
    };
    pairs.iter().enumerate().filter(is_shown).map(|(_, pair)| pair)
}

fn pair_of(found: &PreferencePair, filter: &crate::Filter, project: &str) -> Pair {
    let link = |turn: &String| crate::failures::turn_link(filter, project, turn);
    Pair {
        source: found.source.clone(),
        sure: format!("{:.0}%", found.confidence * 100.0),
        link: found.turn.as_ref().map_or_else(String::new, link),
        question: Said::plain(&found.question),
        better: Said::plain(&found.better),
        worse: Said::plain(&found.worse),
    }
}

fn curve(found: &CalibrationReport) -> String {
    match (&found.curve, found.error) {
        (Some(_), Some((without, with))) => format!(
            "Confidences of this project are calibrated: the squared error on labels kept aside is {with:.3}, without it {without:.3}."
        ),
        (Some(_), None) => "Confidences of this project are calibrated.".to_owned(),
        (None, _) if found.labels >= found.labels_needed => {
            "Confidences stay as they are: a curve of this project’s own would not be better."
                .to_owned()
        }
        (None, _) => "Confidences stay as they are until there are enough labels.".to_owned(),
    }
}

/// How often verdicts were right, over how sure they were.
fn drawn(found: &CalibrationReport) -> String {
    if found.reliability.is_empty() {
        return String::new();
    }
    let point = |bin: u32| {
        let from = f64::from(bin) / 10.0;
        let known = found.reliability.iter().find(|one| (one.from - from).abs() < 1e-9);
        known.map_or_else(Point::default, |one| {
            let rate = report::Rate {
                numerator: (one.right * one.labels as f64).round() as u64,
                denominator: one.labels as u64,
            };
            let told = format!(
                "{} sure on average, right {} of the time, {} labels",
                number::percent(one.calibrated),
                number::percent(one.right),
                one.labels
            );
            Point { value: Some(one.right), interval: rate.interval(), told }
        })
    };
    let points: Vec<Point> = (0..10).map(point).collect();
    let label = "How often verdicts were right, by how sure they were";
    chart::reliability(&points, Range { low: 0.0, high: 1.0 }, label)
}
