//! Trains the restatement model: the same request again, or another one that looks like it.
//!
//! Besides the written pairs it learns from pairs that are derived from the questions of the corpus:
//! typos, emphasis, background and keywords keep a request; another word, another number and a
//! further condition change it. A derived pair of either label may be derived twice, so that a typo
//! in one word does not excuse another word beside it.

use std::path::Path;

use anyhow::Result;
use detect::{Utterance, restatement_features};

use crate::derived::{Sources, derive_pairs};
use crate::dialogues::{Dialogue, read_dialogues};
use crate::pairs::{FittedModel, PairRow, hash_group, read_jsonl};
use crate::train::{Example, Hyperparameters, SplitMix64, fit_calibrated};

pub const RESTATEMENT_HYPERPARAMETERS: Hyperparameters = Hyperparameters {
    wide: 0,
    hidden: 12,
    epochs: 10,
    learning_rate: 2e-3,
    wide_decay: 0.0,
    deep_decay: 1e-3,
    dropout: 0.0,
    networks: 3,
};

/// Weight of a written pair, relative to 1 for a derived one. Written pairs are harder than what
/// users send: their paraphrases share few words and their traps differ in one.
const WRITTEN_PAIR_WEIGHT: f32 = 1.0;
const DERIVED_PAIR_WEIGHT: f32 = 1.0;
const NEXT_QUESTION_WEIGHT: f32 = 0.5;
const SEED: u64 = 26;

/// Fits the model. Returns it with its examples and their out-of-fold sums.
pub fn fit_restatement_model(corpus: &Path) -> Result<FittedModel> {
    let written: Vec<PairRow> = read_jsonl(&corpus.join("pairs.jsonl"))?;
    let dialogues = read_dialogues(corpus)?;
    let mut examples = Vec::new();
    for row in &written {
        examples.push(build_example(row, WRITTEN_PAIR_WEIGHT));
    }
    let sources = Sources::new(&written, &dialogues);
    let mut rng = SplitMix64(SEED);
    for row in derive_pairs(&sources, &mut rng) {
        examples.push(build_example(&row, DERIVED_PAIR_WEIGHT));
    }
    for row in dialogues.iter().flat_map(next_questions) {
        examples.push(build_example(&row, NEXT_QUESTION_WEIGHT));
    }
    let (model, held_out) = fit_calibrated(&examples, RESTATEMENT_HYPERPARAMETERS);
    Ok((model, examples, held_out))
}

fn build_example(row: &PairRow, weight: f32) -> Example {
    let (a, b) = (Utterance::read(&row.a), Utterance::read(&row.b));
    Example {
        features: restatement_features(&a, &b),
        target: if row.label { 1.0 } else { 0.0 },
        weight,
        group: hash_group(&row.group),
    }
}

/// The questions that users of the dialogues asked next, as other requests.
fn next_questions(dialogue: &Dialogue) -> impl Iterator<Item = PairRow> {
    let next = dialogue.messages.iter().filter(|next| {
        next.status == "accepted" && matches!(next.kind.as_str(), "nextitem" | "followup")
    });
    let last = dialogue.turns.last();
    next.filter_map(move |next| {
        Some(PairRow {
            group: dialogue.group.clone(),
            lang: dialogue.lang.clone(),
            a: last?.question.clone(),
            b: next.message.clone(),
            label: false,
            kind: "next".to_owned(),
            score: 0.0,
        })
    })
}
