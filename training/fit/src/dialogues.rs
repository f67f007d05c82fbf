//! Reads the dialogues of the corpus: contexts of several turns, each with several next messages.

use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use crate::pairs::read_jsonl;
use crate::verdicts::VerdictRow;

#[derive(Debug, Deserialize)]
pub struct Dialogue {
    pub group: String,
    pub lang: String,
    pub turns: Vec<DialogueTurn>,
    pub messages: Vec<NextMessage>,
}

#[derive(Debug, Deserialize)]
pub struct DialogueTurn {
    #[serde(default)]
    pub user: Option<String>,
    pub question: String,
    pub answer: String,
}

/// A message that may follow the turns.
#[derive(Debug, Deserialize)]
pub struct NextMessage {
    #[serde(default)]
    pub user: Option<String>,
    pub message: String,
    pub status: String,
    pub kind: String,
    #[serde(default)]
    pub hard: bool,
    /// The judged turn, from 1; 0 for none. Absent where writer and labeller differ.
    #[serde(default)]
    pub target: Option<usize>,
}

/// The dialogues that models are trained on.
pub fn read_dialogues(corpus: &Path) -> Result<Vec<Dialogue>> {
    read_jsonl(&corpus.join("dialogues.jsonl"))
}

/// Rows of dialogues that no model is trained on. Only messages about the last turn.
pub fn read_test_rows(corpus: &Path) -> Result<Vec<VerdictRow>> {
    let mut dialogues: Vec<Dialogue> = read_jsonl(&corpus.join("dialogues-test.jsonl"))?;
    for dialogue in &mut dialogues {
        let last = dialogue.turns.len();
        dialogue.messages.retain(|next| next.target.is_none_or(|target| target == last));
    }
    Ok(dialogues.iter().flat_map(Dialogue::verdict_rows).collect())
}

impl Dialogue {
    /// A row per message, with the last turn that its user saw, which is what the detectors read.
    pub fn verdict_rows(&self) -> impl Iterator<Item = VerdictRow> {
        self.messages.iter().filter_map(|next| {
            let last = self.turns.iter().rfind(|turn| {
                turn.user.is_none() || next.user.is_none() || turn.user == next.user
            })?;
            Some(VerdictRow {
                group: self.group.clone(),
                part: format!("dlg-{}", next.kind),
                lang: self.lang.clone(),
                prev_user: last.question.clone(),
                assistant: last.answer.clone(),
                user: next.message.clone(),
                status: next.status.clone(),
                satisfaction: 0,
                hard: next.hard,
            })
        })
    }
}
