//! Makes rows of what was read, and bytes of the rows.

use export::ExportError;
use learn::{
    ExportTally, Exporter, GroupedAnswer, PreferenceConversation, PreferenceRow, PreferenceTurn,
    QuestionGroups,
};
use model::{ConversationId, Vector};
use store::{LabelledTurn, StoreError};

use crate::error::FlowError;
use crate::training_data::preferences::ask::PreferenceQuery;
use crate::training_data::preferences::bytes::Bytes;
use crate::training_data::preferences::convert::{Asked, of_turn};
use crate::training_data::preferences::near::NearQuestions;

/// Everything that is kept from one page to the next. `T` says where to find a turn again.
pub(crate) struct Maker<T: Copy + Ord> {
    exporter: Exporter,
    groups: QuestionGroups<T>,
    near: NearQuestions,
    bytes: Result<Bytes, ExportError>,
    /// The row that the reader has already; rows up to it are passed over.
    after: Option<String>,
}

/// An answer to a question that others asked too, with what was said before.
pub(crate) struct Answered {
    conversation: ConversationId,
    turns: Vec<PreferenceTurn>,
    vector: Option<Vector>,
}

impl Answered {
    /// The last of these turns is meant; the others came before.
    pub(crate) fn new(
        conversation: ConversationId,
        turns: Vec<PreferenceTurn>,
        vector: Option<Vector>,
    ) -> Self {
        Self { conversation, turns, vector }
    }

    /// The same, as the store has them.
    pub(super) fn of(turns: Vec<LabelledTurn>, window: Asked) -> Option<Self> {
        let last = turns.last()?;
        let (conversation, vector) = (last.conversation.clone()?, last.vector.clone());
        let turns = turns.into_iter().map(|turn| of_turn(turn, window)).collect();
        Some(Self { conversation, turns, vector })
    }

    fn elsewhere(&self) -> Option<GroupedAnswer<'_>> {
        let (turn, before) = self.turns.split_last()?;
        let (conversation, vector) = (&self.conversation, self.vector.as_ref());
        Some(GroupedAnswer { conversation, before, turn, vector })
    }
}

impl<T: Copy + Ord> Maker<T> {
    pub(crate) fn new(query: &PreferenceQuery) -> Self {
        let rule = query.rule().clone();
        Self {
            bytes: Bytes::new(query.encoding(), rule.format),
            exporter: Exporter::new(rule),
            groups: QuestionGroups::default(),
            near: NearQuestions::default(),
            after: query.after().map(str::to_owned),
        }
    }

    pub(crate) fn tally(&self) -> ExportTally {
        self.exporter.tally().clone()
    }

    /// Notes which turns may be compared with others.
    pub(super) fn note(
        &mut self,
        talk: &PreferenceConversation,
        numbers: &[T],
        vectors: &[Option<Vector>],
    ) {
        for (turn, (number, vector)) in talk.turns.iter().zip(numbers.iter().zip(vectors)) {
            self.note_one(turn, *number, vector.as_ref());
        }
    }

    /// Notes a turn if it may be compared with others: whether it may.
    pub(crate) fn note_one(
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

    /// The questions that were asked more than once. Nothing can be noted afterwards.
    pub(crate) fn groups(&mut self) -> Vec<Vec<T>> {
        let mut groups = std::mem::take(&mut self.groups);
        std::mem::take(&mut self.near).join_in(&mut groups);
        groups.into_groups().collect()
    }

    /// Counts what a conversation says, before rows are made of any.
    pub(crate) fn weigh(&mut self, talk: &PreferenceConversation) {
        self.exporter.count_votes(talk);
    }

    pub(crate) fn conversation(&mut self, talk: &PreferenceConversation) -> Result<(), FlowError> {
        let rows = self.exporter.export_conversation(talk);
        self.push(&rows)
    }

    pub(crate) fn group(&mut self, answered: &[&Answered]) -> Result<(), FlowError> {
        let answers: Vec<GroupedAnswer<'_>> =
            answered.iter().filter_map(|answer| answer.elsewhere()).collect();
        let rows = self.exporter.export_group(&answers);
        self.push(&rows)
    }

    fn push(&mut self, rows: &[PreferenceRow]) -> Result<(), FlowError> {
        for row in rows {
            if let Some(after) = &self.after {
                if row.provenance().id == *after {
                    self.after = None;
                }
                continue;
            }
            self.bytes()?.push(row).map_err(unwritable)?;
        }
        Ok(())
    }

    /// What was written since the last time.
    pub(crate) fn take(&mut self) -> Result<Vec<u8>, FlowError> {
        Ok(self.bytes()?.take())
    }

    /// The rest.
    pub(crate) fn finish(&mut self) -> Result<Vec<u8>, FlowError> {
        self.bytes()?.finish().map_err(unwritable)
    }

    fn bytes(&mut self) -> Result<&mut Bytes, FlowError> {
        self.bytes.as_mut().map_err(|error| unwritable(&*error))
    }
}

fn unwritable(error: impl std::fmt::Display) -> FlowError {
    StoreError::Corrupt(format!("rows cannot be written: {error}")).into()
}
