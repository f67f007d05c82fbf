//! Builds preference rows from labelled turns and encodes them.

use crate::export::ExportError;
use learn::{
    ExportTally, Exporter, GroupedAnswer, PreferenceConversation, PreferenceRow, PreferenceTurn,
    QuestionGroups,
};
use model::{ConversationId, Vector};
use store::{LabelledTurn, StoreError};

use crate::error::EngineError;
use crate::training_data::preferences::conversion::{AskedWindow, TurnRewards, to_turn};
use crate::training_data::preferences::query::PreferenceQuery;
use crate::training_data::preferences::row_writer::RowWriter;
use crate::training_data::preferences::similar_questions::SimilarQuestions;

/// State between pages. `T` identifies a turn for later lookup.
pub(crate) struct PairBuilder<T: Copy + Ord> {
    exporter: Exporter,
    groups: QuestionGroups<T>,
    near: SimilarQuestions,
    bytes: Result<RowWriter, ExportError>,
    /// The last row that the client has; rows up to it are skipped.
    after: Option<String>,
}

/// An answer to a repeated question, with the preceding turns.
pub(crate) struct AnsweredQuestion {
    conversation: ConversationId,
    turns: Vec<PreferenceTurn>,
    vector: Option<Vector>,
}

impl AnsweredQuestion {
    /// The last turn is the answer; the others are its context.
    pub(crate) fn new(
        conversation: ConversationId,
        turns: Vec<PreferenceTurn>,
        vector: Option<Vector>,
    ) -> Self {
        Self { conversation, turns, vector }
    }

    pub(super) fn from_stored(
        turns: Vec<LabelledTurn>,
        window: AskedWindow,
        rewards: &TurnRewards,
    ) -> Option<Self> {
        let last = turns.last()?;
        let (conversation, vector) = (last.conversation.clone()?, last.vector.clone());
        let turns = turns.into_iter().map(|turn| to_turn(turn, window, rewards)).collect();
        Some(Self { conversation, turns, vector })
    }

    fn as_grouped(&self) -> Option<GroupedAnswer<'_>> {
        let (turn, before) = self.turns.split_last()?;
        let (conversation, vector) = (&self.conversation, self.vector.as_ref());
        Some(GroupedAnswer { conversation, before, turn, vector })
    }
}

impl<T: Copy + Ord> PairBuilder<T> {
    pub(crate) fn new(query: &PreferenceQuery) -> Self {
        let rule = query.rule().clone();
        Self {
            bytes: RowWriter::new(query.encoding(), rule.format),
            exporter: Exporter::new(rule),
            groups: QuestionGroups::default(),
            near: SimilarQuestions::default(),
            after: query.resume_after().map(str::to_owned),
        }
    }

    pub(crate) fn tally(&self) -> ExportTally {
        self.exporter.tally().clone()
    }

    /// Adds turns that may be compared with others.
    pub(super) fn add_turns(
        &mut self,
        conversation: &PreferenceConversation,
        numbers: &[T],
        vectors: &[Option<Vector>],
    ) {
        for (turn, (number, vector)) in conversation.turns.iter().zip(numbers.iter().zip(vectors)) {
            self.add_turn(turn, *number, vector.as_ref());
        }
    }

    /// Adds a turn. Returns true if it may be compared with others.
    pub(crate) fn add_turn(
        &mut self,
        turn: &PreferenceTurn,
        place: T,
        vector: Option<&Vector>,
    ) -> bool {
        let Some(question) = self.groups.add_turn(turn, place) else { return false };
        if let Some(vector) = vector {
            self.near.add(question, vector);
        }
        true
    }

    /// Takes the groups of repeated questions. No turn can be added afterwards.
    pub(crate) fn take_groups(&mut self) -> Vec<Vec<T>> {
        let mut groups = std::mem::take(&mut self.groups);
        std::mem::take(&mut self.near).merge_into(&mut groups);
        groups.into_groups().collect()
    }

    /// Counts a conversation's votes. All are counted before the first row.
    pub(crate) fn count_votes(&mut self, conversation: &PreferenceConversation) {
        self.exporter.count_votes(conversation);
    }

    pub(crate) fn export_conversation(
        &mut self,
        conversation: &PreferenceConversation,
    ) -> Result<(), EngineError> {
        let rows = self.exporter.export_conversation(conversation);
        self.push(&rows)
    }

    pub(crate) fn export_group(
        &mut self,
        answered: &[&AnsweredQuestion],
    ) -> Result<(), EngineError> {
        let answers: Vec<GroupedAnswer<'_>> =
            answered.iter().filter_map(|answer| answer.as_grouped()).collect();
        let rows = self.exporter.export_group(&answers);
        self.push(&rows)
    }

    fn push(&mut self, rows: &[PreferenceRow]) -> Result<(), EngineError> {
        for row in rows {
            if let Some(after) = &self.after {
                if row.provenance.id == *after {
                    self.after = None;
                }
                continue;
            }
            self.bytes()?.push(row).map_err(unwritable)?;
        }
        Ok(())
    }

    pub(crate) fn take_bytes(&mut self) -> Result<Vec<u8>, EngineError> {
        Ok(self.bytes()?.take())
    }

    pub(crate) fn finish(&mut self) -> Result<Vec<u8>, EngineError> {
        self.bytes()?.finish().map_err(unwritable)
    }

    fn bytes(&mut self) -> Result<&mut RowWriter, EngineError> {
        self.bytes.as_mut().map_err(|error| unwritable(&*error))
    }
}

fn unwritable(error: impl std::fmt::Display) -> EngineError {
    StoreError::Corrupt(format!("rows cannot be written: {error}")).into()
}
