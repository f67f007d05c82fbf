//! Trains the refusal model from written answers and the trainable completions of XSTest.

use std::path::Path;

use anyhow::Result;
use detect::{Answer, Utterance};
use serde::Deserialize;

use crate::pairs::{hash_group, read_jsonl};
use crate::train::{Example, Hyperparameters};

#[derive(Clone, Debug, Deserialize)]
pub struct RefusalRow {
    #[serde(default)]
    pub set: String,
    pub prompt: String,
    pub response: String,
    pub label: bool,
    #[serde(default)]
    pub kind: String,
}

pub const REFUSAL_HYPERPARAMETERS: Hyperparameters = Hyperparameters {
    wide: 1 << 15,
    hidden: 8,
    epochs: 12,
    learning_rate: 2e-3,
    wide_decay: 1e-2,
    deep_decay: 1e-2,
    dropout: 0.4,
    networks: 3,
};

pub fn build_examples(rows: &[RefusalRow]) -> Vec<Example> {
    let example = |row: &RefusalRow, question: Option<&Utterance>, weight: f32| Example {
        features: Answer::read(question, &row.response).refusal_features,
        target: if row.label { 1.0 } else { 0.0 },
        weight,
        group: hash_group(&row.prompt),
    };
    let mut all: Vec<Example> = rows
        .iter()
        .map(|row| {
            example(
                row,
                Some(&Utterance::read(&row.prompt)),
                if row.kind == "ordinary" {
                    0.5
                } else if row.set.is_empty() {
                    1.0
                } else {
                    2.0
                },
            )
        })
        .collect();
    // The question is not always known.
    all.extend(rows.iter().step_by(2).map(|row| example(row, None, 0.5)));
    all
}

/// Answers of the verdict corpus without refusal words, as typical negatives.
fn read_ordinary_answers(corpus: &Path) -> Result<Vec<RefusalRow>> {
    const REFUSAL_WORDS: &str = "sorry|cannot|can't|unable|apolog|not able|unfortunately|don't have|won't|couldn't|as an ai|can not|only help|\
        nicht|leider|no puedo|lamento|désol|ne peux|não|non posso|niet|できません|申し訳|无法|抱歉";
    let rows: Vec<crate::verdicts::VerdictRow> = crate::verdicts::read_rows(corpus)?;
    let mut seen = std::collections::BTreeSet::new();
    Ok(rows
        .into_iter()
        .filter(|row| {
            row.assistant.split_whitespace().count() > 3 && seen.insert(row.assistant.clone())
        })
        .filter(|row| {
            !REFUSAL_WORDS.split('|').any(|word| row.assistant.to_lowercase().contains(word))
        })
        .map(|row| RefusalRow {
            set: String::new(),
            prompt: row.prev_user,
            response: row.assistant,
            label: false,
            kind: "ordinary".to_owned(),
        })
        .collect())
}

/// Rows of the corpus, plus those of XSTest when the benchmark data is available.
pub fn read_rows(corpus: &Path, data: Option<&Path>) -> Result<Vec<RefusalRow>> {
    let mut rows: Vec<RefusalRow> = read_jsonl(&corpus.join("refusal.jsonl"))?;
    rows.extend(read_ordinary_answers(corpus)?);
    if let Some(data) = data {
        rows.extend(read_jsonl::<RefusalRow>(&data.join("detect/refusal-dev.jsonl"))?);
    }
    Ok(rows)
}
