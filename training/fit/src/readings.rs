//! Rows for the training of the reader, and the blend of its scores with the instant models'.
//!
//! ```text
//! corpus --write_rows--> tokens, instant log-odds --training/reader/train.py--> scores by fold
//! both --fit_blend--> crates/detect/model/blend.txt
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use detect::{
    ReaderScores, Utterance, VerdictRule, detect_verdict_with, is_settled, message_language,
};
use model::{UnitInterval, Verdict};
use reader::{Texts, tokenize_texts};
use serde::{Deserialize, Serialize};

use crate::metrics;
use crate::pairs::read_jsonl;
use crate::train::{fit_platt, predict_out_of_fold};
use crate::verdicts::{
    VERDICT_HYPERPARAMETERS, VerdictRow, acceptance_target, build_examples, read_reader_rows,
    rejection_target, with_exchange,
};

/// A corpus row as the reader's training sees it.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReaderRow {
    pub group: String,
    pub part: String,
    pub lang: String,
    /// As detected in the message.
    pub language: String,
    pub hard: bool,
    pub status: String,
    /// Tokens of the message, the question and the answer.
    pub ids: [Vec<u32>; 3],
    /// Log-odds of rejected and accepted by instant models that have not seen the row's group.
    pub instant: [f64; 2],
}

impl ReaderRow {
    fn weight(&self) -> f64 {
        match self.hard {
            true => HARD_ROW_WEIGHT,
            false if self.part.starts_with("nat-") => NATURAL_ROW_WEIGHT,
            false => 1.0,
        }
    }
}

/// A row of a public set, for the figures that the training prints.
#[derive(Debug, Serialize)]
struct EvaluationRow {
    set: String,
    ids: [Vec<u32>; 3],
    label: bool,
    /// Rejection probability of the committed instant models.
    instant: f64,
}

#[derive(Deserialize)]
struct PublicRow {
    set: String,
    #[serde(default)]
    prev_user: String,
    #[serde(default)]
    assistant: String,
    user: String,
    label: bool,
}

fn token_ids(message: &str, question: &str, answer: &str) -> [Vec<u32>; 3] {
    tokenize_texts(&Texts { message, question, answer })
        .map(|tokens| tokens.into_iter().map(|token| token.id).collect())
}

/// Writes `rows.jsonl`, and with `data` also `evaluation.jsonl`.
pub fn write_rows(corpus: &Path, out: &Path, data: Option<&Path>) -> Result<usize> {
    let rows = read_reader_rows(corpus)?;
    let targets: [fn(&VerdictRow) -> f32; 2] = [rejection_target, acceptance_target];
    let instant = targets.map(|target| held_out_log_odds(&rows, target));
    let mut file = create(&out.join("rows.jsonl"))?;
    for (at, row) in rows.iter().enumerate() {
        let line = ReaderRow {
            group: row.group.clone(),
            part: row.part.clone(),
            lang: row.lang.clone(),
            language: message_language(&Utterance::read(&row.user)).to_owned(),
            hard: row.hard,
            status: row.status.clone(),
            ids: token_ids(&row.user, &row.prev_user, &row.assistant),
            instant: [instant[0][at], instant[1][at]],
        };
        writeln!(file, "{}", serde_json::to_string(&line)?)?;
    }
    file.flush()?;
    if let Some(data) = data {
        let mut file = create(&out.join("evaluation.jsonl"))?;
        for row in read_jsonl::<PublicRow>(&data.join("detect/verdict-dev.jsonl"))? {
            let ids = token_ids(&row.user, &row.prev_user, &row.assistant);
            let instant = judge_public(&row, None).dissatisfied.map_or(0.0, UnitInterval::get);
            let line = EvaluationRow { set: row.set, ids, label: row.label, instant };
            writeln!(file, "{}", serde_json::to_string(&line)?)?;
        }
        file.flush()?;
    }
    Ok(rows.len())
}

/// Prints the AUC of the instant models, the built-in reader and the committed blend on public sets.
#[expect(clippy::print_stdout, reason = "command-line tool")]
pub fn evaluate(data: &Path) -> Result<()> {
    let reader = reader::built_in().context("this build has no reader: use --features model")?;
    let rows = read_jsonl::<PublicRow>(&data.join("detect/verdict-dev.jsonl"))?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let scores = std::thread::scope(|scope| {
        let parts: Vec<_> = rows
            .chunks(rows.len().div_ceil(threads))
            .map(|part| {
                scope.spawn(move || {
                    part.iter().map(|row| score_public(reader, row)).collect::<Vec<_>>()
                })
            })
            .collect();
        let scored = parts.into_iter().map(|part| part.join());
        let scored: Result<Vec<_>, _> = scored.collect();
        scored.map(|parts| parts.concat()).map_err(|_| anyhow!("a scoring thread panicked"))
    })?;
    let mut sets: Vec<&str> = rows.iter().map(|row| row.set.as_str()).collect();
    sets.sort_unstable();
    sets.dedup();
    for set in sets {
        let auc = |at: usize| {
            let own = rows.iter().zip(&scores).filter(|(row, _)| row.set == set);
            metrics::auc(&own.map(|(row, scores)| (scores[at], row.label)).collect::<Vec<_>>())
        };
        println!(
            "{set:12} AUC instant {:.4}, reader {:.4}, blend {:.4}, blend where unsure {:.4}",
            auc(0),
            auc(1),
            auc(2),
            auc(3)
        );
    }
    Ok(())
}

/// Instant probability, the reader's log-odds, the blended probability of a rejection, and the one
/// that the program gives.
fn score_public(reader: &reader::Reader, row: &PublicRow) -> [f64; 4] {
    let found = reader.read(&Texts {
        message: &row.user,
        question: &row.prev_user,
        answer: &row.assistant,
    });
    let scores = ReaderScores {
        rejected: f64::from(found.rejected),
        accepted: f64::from(found.accepted),
        evidence: found.evidence,
    };
    let instant = judge_public(row, None);
    let p = |verdict: &Verdict| verdict.dissatisfied.map_or(0.0, UnitInterval::get);
    let blended = p(&judge_public(row, Some(&scores)));
    let final_p = if is_settled(&instant) { p(&instant) } else { blended };
    [p(&instant), scores.rejected, blended, final_p]
}

fn judge_public(row: &PublicRow, scores: Option<&ReaderScores>) -> Verdict {
    with_exchange([&row.prev_user, &row.assistant, &row.user], |exchange| {
        detect_verdict_with(&VerdictRule::default(), exchange, scores)
    })
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(BufWriter::new(file))
}

fn held_out_log_odds(rows: &[VerdictRow], target: fn(&VerdictRow) -> f32) -> Vec<f64> {
    let examples = build_examples(rows, target);
    let sums = predict_out_of_fold(&examples, VERDICT_HYPERPARAMETERS);
    let platt = fit_platt(&examples, &sums);
    sums.iter().take(rows.len()).map(|sum| platt.slope * f64::from(*sum) + platt.offset).collect()
}

/// Scores of a row by a reader that has not seen its group: rejected, accepted, neutral.
#[derive(Debug, Deserialize)]
struct FoldScores {
    logits: [f64; 3],
}

/// One point of a logistic regression on two log-odds.
struct Point {
    reader: f64,
    instant: f64,
    label: f64,
    weight: f64,
}

/// Weights of the reader's and the instant log-odds, and an offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    pub reader: f64,
    pub instant: f64,
    pub offset: f64,
}

/// Strength, in rows, with which a language's blend is drawn to that of all languages.
const SHRINKAGE: f64 = 30.0;
/// The reader counts at most this much relative to the instant models, which transfer better to
/// plain booking dialogues: on uss-sgd the free fit loses 0.01.
const MAX_READER_RATIO: f64 = 0.65;
const HARD_ROW_WEIGHT: f64 = 0.3;
/// Ordinary rows are far more frequent in production than in the corpus.
const NATURAL_ROW_WEIGHT: f64 = 7.0;

impl Blend {
    fn log_odds(self, point: &Point) -> f64 {
        self.reader * point.reader + self.instant * point.instant + self.offset
    }

    /// Fits with a limit on the reader's share.
    fn fit_limited(points: &[Point], prior: Self, strength: f64) -> Self {
        let free = Self::fit(points, prior, strength);
        if free.reader <= MAX_READER_RATIO * free.instant {
            return free;
        }
        let joined: Vec<Point> = points
            .iter()
            .map(|point| Point {
                reader: 0.0,
                instant: point.instant + MAX_READER_RATIO * point.reader,
                ..*point
            })
            .collect();
        let fitted = Self::fit(&joined, Self { reader: 0.0, ..prior }, strength);
        Self { reader: MAX_READER_RATIO * fitted.instant, ..fitted }
    }

    /// Logistic regression by Newton's method, drawn to `prior`.
    fn fit(points: &[Point], prior: Self, strength: f64) -> Self {
        let mut blend = prior;
        for _ in 0..60 {
            let mut gradient = [0.0; 3];
            let mut hessian = [[0.0; 3]; 3];
            let values = [blend.reader, blend.instant, blend.offset];
            let priors = [prior.reader, prior.instant, prior.offset];
            for at in 0..3 {
                gradient[at] = strength * (values[at] - priors[at]);
                hessian[at][at] = strength;
            }
            for point in points {
                let p = 1.0 / (1.0 + (-blend.log_odds(point)).exp());
                let x = [point.reader, point.instant, 1.0];
                let curvature = (p * (1.0 - p)).max(1e-6) * point.weight;
                for at in 0..3 {
                    gradient[at] += (p - point.label) * point.weight * x[at];
                    for other in 0..3 {
                        hessian[at][other] += curvature * x[at] * x[other];
                    }
                }
            }
            let step = solve(hessian, gradient);
            blend.reader -= step[0];
            blend.instant -= step[1];
            blend.offset -= step[2];
            if step.iter().all(|s| s.abs() < 1e-9) {
                break;
            }
        }
        blend
    }
}

/// Solves a symmetric positive system of three equations by elimination.
fn solve(mut a: [[f64; 3]; 3], mut b: [f64; 3]) -> [f64; 3] {
    for pivot in 0..3 {
        for row in pivot + 1..3 {
            let factor = a[row][pivot] / a[pivot][pivot];
            let (above, below) = a.split_at_mut(row);
            for (value, pivot_value) in below[0].iter_mut().zip(&above[pivot]).skip(pivot) {
                *value -= factor * pivot_value;
            }
            b[row] -= factor * b[pivot];
        }
    }
    let mut x = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|column| a[row][column] * x[column]).sum();
        x[row] = (b[row] - known) / a[row][row];
    }
    x
}

/// Fits the blend of each language and prints how the instant models, the reader and the blend do.
/// Returns the text of the blend file.
#[expect(clippy::print_stdout, reason = "command-line tool")]
pub fn fit_blend(rows: &Path, folds: &Path) -> Result<String> {
    let rows: Vec<ReaderRow> = read_jsonl(rows)?;
    let scores: Vec<FoldScores> = read_jsonl(folds)?;
    ensure!(rows.len() == scores.len(), "{} rows, but {} scores", rows.len(), scores.len());
    let mut languages: Vec<&str> = rows.iter().map(|row| row.language.as_str()).collect();
    languages.sort_unstable();
    languages.dedup();
    let mut lines = String::new();
    for (at, target) in ["rejected", "accepted"].into_iter().enumerate() {
        let points: Vec<Point> = rows
            .iter()
            .zip(&scores)
            .map(|(row, scores)| Point {
                reader: margin(scores.logits, at),
                instant: row.instant[at],
                label: f64::from(u8::from(row.status == target)),
                weight: row.weight(),
            })
            .collect();
        let start = Blend { reader: 0.5, instant: 0.5, offset: 0.0 };
        let all = Blend::fit_limited(&points, start, 1e-3);
        let all_points: Vec<&Point> = points.iter().collect();
        print_figures(target, "all", &all_points, all);
        lines.push_str(&blend_line("all", target, all));
        for language in &languages {
            let own: Vec<Point> = rows
                .iter()
                .zip(&points)
                .filter(|(row, _)| row.language == *language)
                .map(|(_, point)| Point { ..*point })
                .collect();
            let blend = Blend::fit_limited(&own, all, SHRINKAGE);
            print_figures(target, language, &own.iter().collect::<Vec<_>>(), blend);
            lines.push_str(&blend_line(language, target, blend));
        }
        let mut kinds: Vec<&str> = rows.iter().map(|row| row.part.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let own: Vec<&Point> = rows
                .iter()
                .zip(&points)
                .filter(|(row, _)| row.part == kind)
                .map(|(_, point)| point)
                .collect();
            print_figures(target, kind, &own, all);
        }
    }
    let (low, high) = settled_bounds(&rows);
    println!("settled below {low:.3} and above {high:.3}");
    lines.push_str(&format!("all settled {low:.4} {high:.4}\n"));
    Ok(lines)
}

fn blend_line(language: &str, target: &str, blend: Blend) -> String {
    let Blend { reader, instant, offset } = blend;
    format!("{language} {target} {reader:.4} {instant:.4} {offset:.4}\n")
}

/// Share of rows, by weight, on which the instant models must be right beyond the bounds.
const SETTLED_SHARE: f64 = 0.98;

/// The rejection probabilities below and above which the instant models are right on held-out rows.
fn settled_bounds(rows: &[ReaderRow]) -> (f64, f64) {
    let mut sorted: Vec<(f64, f64, f64)> = rows
        .iter()
        .map(|row| {
            let p = 1.0 / (1.0 + (-row.instant[0]).exp());
            let weight = if row.hard { HARD_ROW_WEIGHT } else { 1.0 };
            (p, f64::from(u8::from(row.status == "rejected")), weight)
        })
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bound = |rows: &mut dyn Iterator<Item = &(f64, f64, f64)>, right: f64, none: f64| {
        let (mut correct, mut total, mut found) = (0.0, 0.0, none);
        for (p, label, weight) in rows {
            total += weight;
            correct += if *label == right { *weight } else { 0.0 };
            if total > 20.0 && correct >= SETTLED_SHARE * total {
                found = *p;
            }
        }
        found
    };
    let low = bound(&mut sorted.iter(), 0.0, 0.0);
    let high = bound(&mut sorted.iter().rev(), 1.0, 1.0);
    (low, high)
}

/// Log-odds of one score against the two others.
fn margin(logits: [f64; 3], at: usize) -> f64 {
    let others = (0..3).filter(|other| *other != at).map(|other| logits[other].exp()).sum::<f64>();
    logits[at] - others.ln()
}

#[expect(clippy::print_stdout, reason = "command-line tool")]
fn print_figures(target: &str, name: &str, points: &[&Point], blend: Blend) {
    let auc = |score: &dyn Fn(&Point) -> f64| {
        metrics::auc(&points.iter().map(|p| (score(p), p.label > 0.5)).collect::<Vec<_>>())
    };
    let probability = |p: &Point| 1.0 / (1.0 + (-blend.log_odds(p)).exp());
    let rows: Vec<(f64, f64, f64)> =
        points.iter().map(|p| (probability(p), p.label, p.weight)).collect();
    let half =
        metrics::binary_metrics(points.iter().map(|p| (probability(p) >= 0.5, p.label > 0.5)));
    println!(
        "{target} {name:12} {:6} rows: AUC instant {:.3}, reader {:.3}, blend {:.3}; F1 {:.3}, \
         false alarms {:.3}, calibration error {:.3}; {:.2} {:.2} {:+.2}",
        points.len(),
        auc(&|p| p.instant),
        auc(&|p| p.reader),
        auc(&probability),
        half.f1,
        half.false_alarms,
        metrics::calibration_error(&rows),
        blend.reader,
        blend.instant,
        blend.offset,
    );
}
