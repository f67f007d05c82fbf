//! Labelled turns: answers with ratings, verdicts and corrections.

mod conversations;
mod changes;
mod turn;

use model::{
    ConversationId, CorrectionType, EventId, ExperimentId, Position, Scope, Source, Timestamp,
    TurnId, UnitInterval, Vector, VerdictStatus,
};
use sql::Connection;

use crate::error::{StoreError, Task};
use crate::queries::similar_turns::TurnNumber;
use crate::queries::turns::{self, StoredTurn};
use crate::read_only_log::ReadOnlyLog;
use crate::read_pool::ReadPool;
use crate::row_keys::{Key, find_project};
use crate::store::Store;

/// A question, its answer, and the signals about it.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledTurn {
    pub number: TurnNumber,
    pub turn: TurnId,
    pub conversation: Option<ConversationId>,
    pub asked_at: Timestamp,
    pub opened: Position,
    /// Empty when it was dropped or erased.
    pub question: String,
    /// Empty without an answer, or when it is gone.
    pub answer: String,
    pub failed: bool,
    /// The verdict in effect.
    pub status: VerdictStatus,
    pub confidence: UnitInterval,
    pub review: Option<VerdictStatus>,
    pub verdict: Option<GivenVerdict>,
    /// The mean of the users' ratings, otherwise the latest of a machine of the application.
    pub rating: Option<GivenRating>,
    /// Corrections in log order.
    pub corrections: Vec<GivenCorrection>,
    pub regenerated: bool,
    /// The variants of experiments that served it.
    pub arms: Vec<ServedBy>,
    pub vector: Option<Vector>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedBy {
    pub experiment: ExperimentId,
    pub name: String,
    pub variant: String,
}

/// The verdict of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenVerdict {
    pub position: Position,
    pub status: VerdictStatus,
    pub correction_type: Option<CorrectionType>,
    pub confidence: UnitInterval,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenRating {
    /// Of the latest rating.
    pub position: Position,
    /// From 0 to 1: the mean of each user's latest rating.
    pub value: UnitInterval,
    /// 1 for a person.
    pub confidence: UnitInterval,
    /// Of the latest rating.
    pub when: Timestamp,
}

/// A corrected answer written by a person.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenCorrection {
    pub position: Position,
    pub event: EventId,
    pub turn: Option<TurnId>,
    pub conversation: Option<ConversationId>,
    pub corrected: String,
    /// The corrected text, if given.
    pub original: Option<String>,
    pub explanation: Option<String>,
    /// The question, as far as the correction names it.
    pub query: Option<String>,
    pub when: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corrections {
    pub turns: Vec<TurnNumber>,
    /// Corrections without a known turn.
    pub loose: Vec<GivenCorrection>,
    /// The start of the next page; `None` at the end.
    pub next: Option<Position>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// Changed turns in their current state; `None` when neither accepted nor corrected.
    pub turns: Vec<(TurnId, Option<LabelledTurn>)>,
    /// New corrections without a known turn.
    pub loose: Vec<GivenCorrection>,
    /// Erased corrections without a turn.
    pub gone: Vec<Position>,
    /// The position up to which events were examined.
    pub upto: Position,
    pub more: bool,
}

/// A conversation, or a part of a very long one, in the order of questions.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledConversation {
    pub id: ConversationId,
    pub turns: Vec<LabelledTurn>,
}

/// A reader's position: after a conversation, or inside it after a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationCursor {
    pub conversation: Option<ConversationId>,
    /// The last turn read, when the conversation continues.
    pub turn: Option<(Timestamp, TurnNumber)>,
}

impl ConversationCursor {
    pub fn conversation_start(conversation: ConversationId) -> Self {
        let first = (Timestamp::from_micros(i64::MIN), TurnNumber(0));
        Self { conversation: Some(conversation), turn: Some(first) }
    }
}

/// Reads of labelled turns, on a store or on a read-only log.
pub trait LabelledTurnReads: Send + Sync {
    #[doc(hidden)]
    fn pool(&self) -> &ReadPool;

    /// Turns in their current state; missing ones are skipped.
    fn judged(&self, turns: Vec<TurnNumber>) -> Task<'_, Vec<LabelledTurn>> {
        self.pool().run_some(turns.len(), move |connection| {
            read_turns(connection, turns.iter().map(|turn| turn.0))
        })
    }

    /// Corrections in their current state; missing ones are skipped.
    fn loose(&self, scope: &Scope, corrections: Vec<Position>) -> Task<'_, Vec<GivenCorrection>> {
        let scope = scope.clone();
        self.pool().run_some(corrections.len(), move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            let mut found = Vec::new();
            for position in corrections {
                found.extend(turn::correction_at(connection, project, position)?);
            }
            Ok(found)
        })
    }

    /// Turns with an accepted answer before a turn, newest first.
    fn accepted(
        &self,
        scope: &Scope,
        older_than: Option<TurnNumber>,
        limit: usize,
    ) -> Task<'_, Vec<LabelledTurn>> {
        let scope = scope.clone();
        self.pool().run(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            let older_than = older_than.map_or(i64::MAX, |turn| turn.0);
            let turns: Vec<Key> = connection.read_rows(
                "SELECT turn FROM turn_index INDEXED BY idx_feedback_status
                 WHERE project = ?1 AND user_feedback_status = ?2 AND turn < ?3
                 ORDER BY turn DESC LIMIT ?4",
                (project, VerdictStatus::Accepted.as_word(), older_than, limit as i64),
            )?;
            read_turns(connection, turns.into_iter())
        })
    }

    /// Corrections before a position, newest first.
    fn corrections(
        &self,
        scope: &Scope,
        before: Option<Position>,
        limit: usize,
    ) -> Task<'_, Corrections> {
        let scope = scope.clone();
        self.pool().run(move |connection| {
            let mut found = Corrections::default();
            let Some(project) = find_project(connection, &scope)? else { return Ok(found) };
            let before = before.map_or(i64::MAX, |position| position.0 as i64);
            // The index identifies them, so only their own rows are read.
            let places = connection.read_rows::<(i64, Option<Key>, Option<i64>)>(
                "SELECT e.position, e.turn, t.opened
                 FROM events e LEFT JOIN turns t ON t.key = e.turn
                 WHERE e.position IN (
                     SELECT position FROM events INDEXED BY events_by_project
                     WHERE project = ?1 AND position < ?2 AND source = ?3
                     ORDER BY position DESC LIMIT ?4)
                 ORDER BY e.position DESC",
                (project, before, Source::UserCorrection.code(), limit as i64),
            )?;
            let last = places.last().map(|(position, ..)| Position(*position as u64));
            found.next = last.filter(|_| places.len() == limit);
            for (position, turn, opened) in places {
                match turn.filter(|_| opened.is_some()) {
                    Some(turn) => found.turns.push(TurnNumber(turn)),
                    None => {
                        let position = Position(position as u64);
                        found.loose.extend(turn::correction_at(connection, project, position)?);
                    }
                }
            }
            found.turns.sort_unstable();
            found.turns.dedup();
            Ok(found)
        })
    }

    /// Turns and corrections touched by events after a position. Examines at most `limit` events.
    fn changed(&self, scope: &Scope, after: Position, limit: usize) -> Task<'_, Changed> {
        let scope = scope.clone();
        self.pool().run(move |connection| changes::read_changes(connection, &scope, after, limit))
    }

    /// For each turn the latest `most` earlier turns of its conversation, oldest first, followed by
    /// the turn itself. Missing turns are skipped.
    fn with_context(
        &self,
        turns: Vec<TurnNumber>,
        most: usize,
    ) -> Task<'_, Vec<Vec<LabelledTurn>>> {
        self.pool().run(move |connection| {
            let mut found = Vec::with_capacity(turns.len());
            for turn in turns {
                found.extend(conversations::up_to(connection, turn.0, most)?);
            }
            Ok(found)
        })
    }

    /// Turns with their events; unknown ones are skipped.
    fn stored_turns(&self, scope: &Scope, turns: Vec<TurnId>) -> Task<'_, Vec<StoredTurn>> {
        let scope = scope.clone();
        self.pool().run(move |connection| turns::read_turns(connection, &scope, &turns))
    }

    /// Names and definitions of the project's routers.
    fn router_definitions(&self, scope: &Scope) -> Task<'_, Vec<(String, String)>> {
        let scope = scope.clone();
        self.pool().run(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            let sql = "SELECT name, definition FROM routers WHERE project = ?1";
            Ok(connection.read_rows(sql, [project])?)
        })
    }

    /// Conversations by id after a cursor, with about `turns` turns in total, and the next cursor.
    /// A page may be empty although more follow.
    fn labelled_conversations(
        &self,
        scope: &Scope,
        behind: ConversationCursor,
        turns: usize,
    ) -> Task<'_, (Vec<LabelledConversation>, Option<ConversationCursor>)> {
        let scope = scope.clone();
        self.pool().run(move |connection| conversations::page(connection, &scope, behind, turns))
    }
}

impl LabelledTurnReads for Store {
    fn pool(&self) -> &ReadPool {
        &self.pool
    }
}

impl LabelledTurnReads for ReadOnlyLog {
    fn pool(&self) -> &ReadPool {
        &self.pool
    }
}

fn read_turns(
    connection: &Connection,
    turns: impl Iterator<Item = Key>,
) -> Result<Vec<LabelledTurn>, StoreError> {
    turns.filter_map(|turn| turn::read_turn(connection, turn).transpose()).collect()
}
