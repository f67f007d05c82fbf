//! Trains the pair models from pairs of questions.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use detect::{PAIR_BLEND_PARTS, Utterance, WideDeepModel, pair_blend_parts, pair_features};
use serde::Deserialize;

use crate::train::{Example, Hyperparameters, predict_out_of_fold, train_model};

#[derive(Debug, Deserialize)]
pub struct PairRow {
    #[serde(default)]
    pub group: String,
    #[serde(default)]
    pub lang: String,
    pub a: String,
    pub b: String,
    #[serde(default)]
    pub label: bool,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub score: f64,
}

pub const PAIR_HYPERPARAMETERS: Hyperparameters = Hyperparameters {
    wide: 0,
    hidden: 16,
    epochs: 12,
    learning_rate: 3e-3,
    wide_decay: 0.0,
    deep_decay: 1e-3,
    dropout: 0.0,
    networks: 3,
};

/// Weights of hand-written pairs and of merely neighbouring anchors, relative to 1 for a pair that
/// the teacher scored. The hand-written negatives are adversarial: with full weight they would
/// teach that similarity means difference.
const WRITTEN_PAIR_WEIGHT: f32 = 0.35;
const NEIGHBOUR_PAIR_WEIGHT: f32 = 0.1;

pub fn read_jsonl<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Vec<T>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    rows.map(|(at, line)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), at + 1))
    })
    .collect()
}

/// FNV-1a hash of a group name.
pub fn hash_group(name: &str) -> u64 {
    name.bytes()
        .fold(14_695_981_039_346_656_037, |h, b| (h ^ u64::from(b)).wrapping_mul(1_099_511_628_211))
}

pub fn build_examples(rows: &[PairRow]) -> Vec<Example> {
    rows.iter()
        .map(|row| Example {
            features: pair_features(&Utterance::read(&row.a), &Utterance::read(&row.b)),
            target: if row.label { 1.0 } else { 0.0 },
            weight: if row.kind == "other" { NEIGHBOUR_PAIR_WEIGHT } else { WRITTEN_PAIR_WEIGHT },
            group: hash_group(&row.group),
        })
        .collect()
}

/// A model, its labelled examples and their out-of-fold sums.
pub type FittedModel = (WideDeepModel, Vec<Example>, Vec<f32>);

pub fn fit_learnt_pair_model(corpus: &Path) -> Result<FittedModel> {
    let mut rows: Vec<PairRow> = read_jsonl(&corpus.join("pairs.jsonl"))?;
    rows.extend(build_neighbour_pairs(&rows));
    let mut examples = build_examples(&rows);
    let teacher_pairs: Vec<PairRow> = read_jsonl(&corpus.join("teacher-pairs.jsonl"))?;
    let labelled = examples.len();
    examples.extend(build_teacher_examples(&teacher_pairs));
    let held_out = predict_out_of_fold(&examples, PAIR_HYPERPARAMETERS);
    let platt = calibrate_to_teacher(&held_out[labelled..], &teacher_pairs);
    let mut model = train_model(&examples, PAIR_HYPERPARAMETERS);
    model.slope = platt.slope as f32;
    model.offset = platt.offset as f32;
    examples.truncate(labelled);
    Ok((model, examples, held_out[..labelled].to_vec()))
}

/// Weights of the parts of the similarity, in units of their spread. The cosine leads.
const BLEND_WEIGHTS: [f64; 4] = [1.0, 0.5, 0.3, 0.9];

/// Fits the scale of each part of the similarity, and the curve of their sum, on the teacher's pairs.
/// Returns the content of `pair-blend.txt`.
pub fn fit_blend(corpus: &Path) -> Result<String> {
    let teacher_pairs: Vec<PairRow> = read_jsonl(&corpus.join("teacher-pairs.jsonl"))?;
    let read = |row: &PairRow| pair_blend_parts(&Utterance::read(&row.a), &Utterance::read(&row.b));
    let parts: Vec<[f64; 4]> = teacher_pairs.iter().map(read).collect();
    let count = parts.len() as f64;
    let mut lines = String::new();
    let mut sums = vec![0.0; parts.len()];
    for (at, (name, weight)) in PAIR_BLEND_PARTS.into_iter().zip(BLEND_WEIGHTS).enumerate() {
        let mean = parts.iter().map(|part| part[at]).sum::<f64>() / count;
        let variance = parts.iter().map(|part| (part[at] - mean).powi(2)).sum::<f64>() / count;
        let spread = variance.sqrt();
        for (sum, part) in sums.iter_mut().zip(&parts) {
            *sum += (weight * (part[at] - mean) / spread) as f32;
        }
        lines.push_str(&format!("{name} {mean:.6} {spread:.6} {weight}\n"));
    }
    let detect::Platt { slope, offset } = calibrate_to_teacher(&sums, &teacher_pairs);
    lines.push_str(&format!("curve {slope:.6} {offset:.6}\n"));
    Ok(lines)
}

/// Builds negative pairs from neighbouring anchors, because most real pairs are unrelated and the
/// written negatives are adversarial.
fn build_neighbour_pairs(rows: &[PairRow]) -> Vec<PairRow> {
    let mut anchors: Vec<(&PairRow, Utterance)> = Vec::new();
    for row in rows {
        if anchors.last().is_none_or(|(last, _)| last.a != row.a)
            && !anchors.iter().any(|(r, _)| r.group == row.group)
        {
            anchors.push((row, Utterance::read(&row.a)));
        }
    }
    let mut found = Vec::new();
    for (at, (row, anchor)) in anchors.iter().enumerate() {
        let mut others: Vec<(f32, usize)> = anchors
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(other, (_, u))| (u.vector().cosine(anchor.vector()).unwrap_or(0.0), other))
            .collect();
        others.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        for rank in NEIGHBOUR_RANKS {
            let other = &anchors[others[*rank].1].0;
            found.push(PairRow {
                group: row.group.clone(),
                lang: row.lang.clone(),
                a: row.a.clone(),
                b: other.a.clone(),
                label: false,
                kind: "other".to_owned(),
                score: 0.0,
            });
        }
    }
    found
}

const NEIGHBOUR_RANKS: &[usize] = &[0, 1, 2, 3, 4, 6, 8, 12, 20, 60];

/// Fits a Platt curve so that as many teacher pairs exceed each threshold as with the teacher's
/// cosine. The configured thresholds are such cosines.
fn calibrate_to_teacher(sums: &[f32], teacher_pairs: &[PairRow]) -> detect::Platt {
    let mut sums = sums.to_vec();
    sums.sort_by(f32::total_cmp);
    let points = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9].map(|level: f64| {
        let below = teacher_pairs.iter().filter(|row| row.score < level).count();
        let sum = f64::from(sums[below.min(sums.len() - 1)]);
        (sum, (level / (1.0 - level)).ln())
    });
    let mean =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let across = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>();
    let along = points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    let slope = across / along;
    detect::Platt { slope, offset: y - slope * x }
}

/// Examples with the teacher's cosine as a soft label.
fn build_teacher_examples(rows: &[PairRow]) -> Vec<Example> {
    rows.iter()
        .map(|row| Example {
            features: pair_features(&Utterance::read(&row.a), &Utterance::read(&row.b)),
            target: (row.score as f32).clamp(0.0, 1.0),
            weight: 1.0,
            group: hash_group(&row.a),
        })
        .collect()
}
