//! Preference pairs out of scanned conversations: the same rows that an export of the store would have.
//!
//! Of conversations nothing is kept. Rated answers are, with what was said before them, up to a limit: they
//! may have to be compared with an answer to the same question that comes much later.

use ingest::Redactor;
use learn::{
    ExportTally, PairSource, PreferenceConversation, PreferenceTurn, TurnCorrection, TurnVerdict,
};
use model::{Timestamp, UnitInterval, VerdictStatus};

use super::conversation::{Scanned, ScannedTurn};
use crate::changes::embed_question;
use crate::error::FlowError;
use crate::training_data::preferences::{Answered, MOST_OF_A_QUESTION, Maker, PreferenceQuery};

/// Text of rated answers that is kept to be compared, in bytes; answers beyond it are compared with none.
const MOST_KEPT_BYTES: usize = 128 << 20;

/// Rows on their way into a file.
pub struct ScanPairs {
    maker: Maker<usize>,
    redactor: Redactor,
    context: usize,
    compares: bool,
    /// Until all are known that say something of the same answers.
    held: Vec<PreferenceConversation>,
    rated: Vec<Answered>,
    held_bytes: usize,
    kept_bytes: usize,
    not_compared: u64,
}

impl ScanPairs {
    /// Nothing is written yet.
    pub fn new(query: &PreferenceQuery) -> Self {
        Self {
            maker: Maker::new(query),
            redactor: Redactor::default(),
            context: query.rule().context_turns,
            compares: query.rule().sources.contains(&PairSource::Rating),
            held: Vec::new(),
            rated: Vec::new(),
            held_bytes: 0,
            kept_bytes: 0,
            not_compared: 0,
        }
    }

    /// What became of the pairs so far.
    pub fn tally(&self) -> ExportTally {
        self.maker.tally()
    }

    /// Rated answers that were not compared with others, because there were too many.
    pub fn not_compared(&self) -> u64 {
        self.not_compared
    }

    /// Takes the next conversation in; what can be written so far.
    pub fn conversation(&mut self, scanned: &Scanned) -> Result<Vec<u8>, FlowError> {
        if !scanned.turns.iter().any(says_something) {
            return Ok(Vec::new());
        }
        let turns = scanned.turns.iter().map(|turn| self.turn(turn)).collect();
        let talk = PreferenceConversation { id: scanned.id.clone(), turns };
        self.maker.weigh(&talk);
        if self.compares {
            for at in 0..talk.turns.len() {
                self.keep(&talk, at);
            }
        }
        let bytes: usize =
            talk.turns.iter().map(|turn| turn.question.len() + turn.answer.len()).sum();
        if self.held_bytes + bytes <= MOST_KEPT_BYTES {
            self.held_bytes += bytes;
            self.held.push(talk);
        } else {
            // With what is known so far.
            self.maker.conversation(&talk)?;
        }
        self.maker.take()
    }

    /// The rest: answers to the same question, rated up here and down there.
    pub fn finish(&mut self) -> Result<Vec<u8>, FlowError> {
        for talk in std::mem::take(&mut self.held) {
            self.maker.conversation(&talk)?;
        }
        for group in self.maker.groups() {
            let newest = group.len().saturating_sub(MOST_OF_A_QUESTION);
            let answers: Vec<&Answered> =
                group[newest..].iter().filter_map(|place| self.rated.get(*place)).collect();
            self.maker.group(&answers)?;
        }
        self.maker.finish()
    }

    /// Keeps a turn if it may be compared with others.
    fn keep(&mut self, talk: &PreferenceConversation, at: usize) {
        if talk.turns[at].rating.is_none() {
            return;
        }
        let turns = &talk.turns[at.saturating_sub(self.context)..=at];
        let bytes: usize = turns.iter().map(|turn| turn.question.len() + turn.answer.len()).sum();
        if self.kept_bytes + bytes > MOST_KEPT_BYTES {
            self.not_compared += 1;
            return;
        }
        let vector = embed_question(&talk.turns[at].question);
        if self.maker.note_one(&talk.turns[at], self.rated.len(), Some(&vector)) {
            self.kept_bytes += bytes;
            self.rated.push(Answered::new(talk.id.clone(), turns.to_vec(), Some(vector)));
        }
    }

    /// Without what a store would not have kept either.
    fn turn(&self, turn: &ScannedTurn) -> PreferenceTurn {
        let plain = |text: &str| self.redactor.redact(text).into_owned();
        let asked_at = turn.asked_at.unwrap_or(Timestamp::from_micros(0));
        PreferenceTurn {
            id: turn.id.clone(),
            question: plain(&turn.question),
            answer: plain(&turn.answer),
            failed: turn.failure.error_type.is_some(),
            asked_at,
            verdict: turn.verdict.as_ref().map(|said| TurnVerdict {
                status: said.status,
                correction_type: said.correction_type,
                confidence: said.confidence,
            }),
            rating: turn.rating,
            // The latest counts; without times that is the last.
            corrections: turn
                .corrections
                .iter()
                .zip(0..)
                .map(|(given, number)| TurnCorrection {
                    corrected: plain(&given.corrected),
                    original: given.original.as_deref().map(plain),
                    when: asked_at.plus_secs(number),
                    confidence: UnitInterval::ONE,
                })
                .collect(),
            regenerated: turn.regenerated,
            context_only: false,
            arms: Vec::new(),
        }
    }
}

/// Whether a turn can be a part of a pair that shows anything.
fn says_something(turn: &ScannedTurn) -> bool {
    let rejected = turn.verdict.as_ref().is_some_and(|said| said.status == VerdictStatus::Rejected);
    rejected || turn.rating.is_some() || turn.regenerated || !turn.corrections.is_empty()
}

impl std::fmt::Debug for ScanPairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rated, kept) = (self.rated.len(), self.kept_bytes);
        f.debug_struct("ScanPairs")
            .field("rated", &rated)
            .field("kept_bytes", &kept)
            .finish_non_exhaustive()
    }
}
