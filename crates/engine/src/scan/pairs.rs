//! Preference pairs from scanned conversations: the same rows as an export of the store.
//!
//! Rated answers are kept with their context up to a limit, because a later answer to the same
//! question may form a pair with them.

use std::collections::HashMap;

use ingest::Redactor;
use learn::{
    AnswerOutcome, ExportTally, MessageVerdict, PairSource, PreferenceConversation, PreferenceTurn,
    RewardRule, TurnCorrection, TurnEvidence, TurnReward, TurnSignal, TurnVerdict,
};
use model::{InteractionKind, RetryIntent, Timestamp, UnitInterval, VerdictStatus};

use super::conversation::{ScannedConversation, ScannedTurn};
use crate::changes::embed_question;
use crate::error::EngineError;
use crate::training_data::preferences::{
    AnsweredQuestion, MAX_ANSWERS_PER_QUESTION, PairBuilder, PreferenceQuery,
};

/// Maximum text of rated answers held for comparison. Answers beyond it are not compared.
const MAX_HELD_BYTES: usize = 128 << 20;

pub struct ScanPairs {
    builder: PairBuilder<usize>,
    redactor: Redactor,
    context: usize,
    compares: bool,
    /// Held until all votes are counted.
    held: Vec<PreferenceConversation>,
    rated: Vec<AnsweredQuestion>,
    held_bytes: usize,
    kept_bytes: usize,
    not_compared: u64,
}

impl ScanPairs {
    pub fn new(query: &PreferenceQuery) -> Self {
        Self {
            builder: PairBuilder::new(query),
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

    /// Counts of exported and dropped pairs so far.
    pub fn tally(&self) -> ExportTally {
        self.builder.tally()
    }

    /// Rated answers that were not compared because of the memory limit.
    pub fn not_compared(&self) -> u64 {
        self.not_compared
    }

    /// Adds a conversation. Returns the bytes that can be written so far.
    pub fn add_conversation(
        &mut self,
        scanned: &ScannedConversation,
    ) -> Result<Vec<u8>, EngineError> {
        if !scanned.turns.iter().any(has_signal) {
            return Ok(Vec::new());
        }
        let retried = find_retried(scanned);
        let to_turn = |turn: &ScannedTurn| {
            let retried = retried.get(turn.number.to_string().as_str()).copied();
            let reward = scan_evidence(turn, retried).turn_reward(&RewardRule::default());
            PreferenceTurn { reward, ..self.to_preference_turn(turn) }
        };
        let turns = scanned.turns.iter().map(to_turn).collect();
        let conversation = PreferenceConversation { id: scanned.id.clone(), turns };
        self.builder.count_votes(&conversation);
        if self.compares {
            for at in 0..conversation.turns.len() {
                self.keep_rated_turn(&conversation, at);
            }
        }
        let bytes: usize =
            conversation.turns.iter().map(|turn| turn.question.len() + turn.answer.len()).sum();
        if self.held_bytes + bytes <= MAX_HELD_BYTES {
            self.held_bytes += bytes;
            self.held.push(conversation);
        } else {
            // Exported with the votes counted so far.
            self.builder.export_conversation(&conversation)?;
        }
        self.builder.take_bytes()
    }

    /// Exports pairs of answers to the same question with opposite ratings.
    pub fn finish(&mut self) -> Result<Vec<u8>, EngineError> {
        for conversation in std::mem::take(&mut self.held) {
            self.builder.export_conversation(&conversation)?;
        }
        for group in self.builder.take_groups() {
            let newest = group.len().saturating_sub(MAX_ANSWERS_PER_QUESTION);
            let answers: Vec<&AnsweredQuestion> =
                group[newest..].iter().filter_map(|place| self.rated.get(*place)).collect();
            self.builder.export_group(&answers)?;
        }
        self.builder.finish()
    }

    /// Keeps a rated turn for comparison.
    fn keep_rated_turn(&mut self, conversation: &PreferenceConversation, at: usize) {
        if conversation.turns[at].rating.is_none() {
            return;
        }
        let turns = &conversation.turns[at.saturating_sub(self.context)..=at];
        let bytes: usize = turns.iter().map(|turn| turn.question.len() + turn.answer.len()).sum();
        if self.kept_bytes + bytes > MAX_HELD_BYTES {
            self.not_compared += 1;
            return;
        }
        let vector = embed_question(&conversation.turns[at].question);
        if self.builder.add_turn(&conversation.turns[at], self.rated.len(), Some(&vector)) {
            self.kept_bytes += bytes;
            self.rated.push(AnsweredQuestion::new(
                conversation.id.clone(),
                turns.to_vec(),
                Some(vector),
            ));
        }
    }

    /// Redacts the texts as the store would.
    fn to_preference_turn(&self, turn: &ScannedTurn) -> PreferenceTurn {
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
            rating: turn.feedback.rating,
            // The latest correction counts. Without times, the order decides.
            corrections: turn
                .feedback
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
            regenerated: turn.feedback.regenerated,
            context_only: false,
            arms: Vec::new(),
            reward: TurnReward::default(),
        }
    }
}

/// The turns whose question was repeated out of dissatisfaction, with the similarity.
fn find_retried(scanned: &ScannedConversation) -> HashMap<&str, UnitInterval> {
    let retries = scanned.turns.iter().filter_map(|turn| turn.retry.as_ref());
    let dissatisfied = retries.filter(|retry| retry.intent == RetryIntent::Dissatisfied);
    dissatisfied.map(|retry| (retry.original_turn_id.as_str(), retry.similarity)).collect()
}

/// The signals of a turn that count in its reward, as in a store.
fn scan_evidence(turn: &ScannedTurn, retried: Option<UnitInterval>) -> TurnEvidence {
    let answered = AnswerOutcome {
        failed: turn.failure.error_type.is_some(),
        seconds: turn.pace.map(|pace| pace.seconds),
    };
    let judged = turn.verdict.as_ref().map(|said| MessageVerdict {
        status: said.status,
        confidence: said.confidence,
        moved_on: false,
    });
    // A machine's rating repeats a verdict.
    let rating = turn.feedback.rating.filter(|rating| rating.confidence == UnitInterval::ONE);
    let rating = rating.map(|rating| TurnSignal::Rating { user: 0, given: Some(rating.value) });
    let corrected = turn.feedback.corrections.first().map(|_| TurnSignal::Correction);
    let regenerated = turn.feedback.regenerated;
    let kind = InteractionKind::Regenerate;
    let pressed = regenerated.then_some(TurnSignal::Interaction { kind, dwell_ms: None });
    let retried = if regenerated { Some(UnitInterval::ONE) } else { retried };
    let mut evidence = TurnEvidence::default();
    [TurnSignal::Answered(answered), TurnSignal::Verdict { message: 0, judged }]
        .into_iter()
        .chain(rating)
        .chain(corrected)
        .chain(pressed)
        .chain(retried.map(TurnSignal::Retry))
        .for_each(|signal| evidence.record(1, &signal));
    evidence
}

/// True when the turn can be part of a pair.
fn has_signal(turn: &ScannedTurn) -> bool {
    let rejected = turn.verdict.as_ref().is_some_and(|said| said.status == VerdictStatus::Rejected);
    rejected
        || turn.feedback.rating.is_some()
        || turn.feedback.regenerated
        || !turn.feedback.corrections.is_empty()
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
