//! Trains the verdict models: dissatisfied or not, accepted or not.

use std::path::Path;

use anyhow::Result;
use detect::{Answer, Exchange, Utterance, learnt_pair_score, verdict_features};
use serde::Deserialize;

use crate::dialogues::{Dialogue, read_dialogues};
use crate::pairs::{hash_group, read_jsonl};
use crate::train::{Example, Hyperparameters};

#[derive(Clone, Debug, Deserialize)]
pub struct VerdictRow {
    #[serde(default)]
    pub group: String,
    #[serde(default)]
    pub part: String,
    #[serde(default)]
    pub lang: String,
    #[serde(default)]
    pub prev_user: String,
    #[serde(default)]
    pub assistant: String,
    pub user: String,
    #[serde(default)]
    pub status: String,
    #[serde(default)]
    pub satisfaction: u8,
    #[serde(default)]
    pub hard: bool,
}

pub const VERDICT_HYPERPARAMETERS: Hyperparameters = Hyperparameters {
    wide: 1 << 16,
    hidden: 12,
    epochs: 10,
    learning_rate: 1.5e-3,
    wide_decay: 1e-3,
    deep_decay: 1e-3,
    dropout: 0.2,
    networks: 3,
};

pub fn row_features(row: &VerdictRow) -> detect::Features {
    with_exchange([&row.prev_user, &row.assistant, &row.user], |exchange| {
        let similarity = |question| learnt_pair_score(exchange.message, question).get();
        verdict_features(exchange, exchange.question.map_or(0.0, similarity))
    })
}

/// Reads a question, an answer and a message, and calls `judge` with them. Empty ones are unknown.
pub(crate) fn with_exchange<T>(
    [question, answer, message]: [&str; 3],
    judge: impl FnOnce(&Exchange<'_>) -> T,
) -> T {
    let message = Utterance::read(message);
    let question = (!question.is_empty()).then(|| Utterance::read(question));
    let answer = (!answer.is_empty()).then(|| Answer::read(question.as_ref(), answer));
    judge(&Exchange {
        question: question.as_ref(),
        answer: answer.as_ref(),
        ..Exchange::new(&message)
    })
}

/// Target of the rejection model. An unhappy neutral row counts a little.
pub fn rejection_target(row: &VerdictRow) -> f32 {
    match (row.status.as_str(), row.satisfaction) {
        ("rejected", _) => 1.0,
        ("neutral", 1 | 2) => 0.35,
        ("neutral", _) => 0.05,
        _ => 0.0,
    }
}

fn row_weight(row: &VerdictRow) -> f32 {
    if row.hard {
        HARD_ROW_WEIGHT
    } else if row.part.starts_with("nat-") {
        NATURAL_ROW_WEIGHT
    } else {
        1.0
    }
}

/// Weight of ordinary rows without traps, which are far more frequent in production.
const NATURAL_ROW_WEIGHT: f32 = 5.0;
/// Weight of hard rows, which are far more frequent in the corpus than in production.
const HARD_ROW_WEIGHT: f32 = 0.15;

pub fn acceptance_target(row: &VerdictRow) -> f32 {
    if row.status == "accepted" { 1.0 } else { 0.0 }
}

/// Builds examples with context, and some without, so that a message is also judged alone.
pub fn build_examples(rows: &[VerdictRow], target: fn(&VerdictRow) -> f32) -> Vec<Example> {
    let example = |row: &VerdictRow, weight: f32| Example {
        features: row_features(row),
        target: target(row),
        weight,
        group: hash_group(&row.group),
    };
    let mut all: Vec<Example> = rows.iter().map(|row| example(row, row_weight(row))).collect();
    for (at, row) in rows.iter().enumerate().filter(|(at, _)| at % 2 == 0) {
        // Ordinary first messages after an unrelated answer, like most next messages in production.
        let other = &rows[(at * 7919 + 13) % rows.len()];
        if other.group == row.group || other.lang != row.lang {
            continue;
        }
        let moved = VerdictRow {
            user: other.prev_user.clone(),
            status: "accepted".to_owned(),
            satisfaction: 3,
            hard: false,
            ..row.clone()
        };
        all.push(example(&moved, 1.0));
    }
    for (at, row) in rows.iter().enumerate().filter(|(at, _)| at % 3 == 0) {
        let mut bare = row.clone();
        bare.assistant = String::new();
        if at % 2 == 0 {
            bare.prev_user = String::new();
        }
        all.push(example(&bare, 0.5));
    }
    all
}

/// The rows with one turn of context, then those of the dialogues.
pub fn read_rows(corpus: &Path) -> Result<Vec<VerdictRow>> {
    let mut rows = read_reader_rows(corpus)?;
    rows.retain(|row| !row.group.starts_with(READER_GROUP));
    Ok(rows)
}

/// Groups whose words mislead on purpose. The instant models, which mostly read words, do not see
/// them.
const READER_GROUP: &str = "hard-";

/// The rows of the reader: those of the instant models and those whose words mislead.
pub fn read_reader_rows(corpus: &Path) -> Result<Vec<VerdictRow>> {
    let mut rows: Vec<VerdictRow> = read_jsonl(&corpus.join("verdict.jsonl"))?;
    let dialogues = read_dialogues(corpus)?;
    rows.extend(dialogues.iter().flat_map(Dialogue::verdict_rows));
    Ok(rows)
}
