//! Reads answers with what people said and did about them.

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
use crate::read_only_log::ReadOnlyLog;
use crate::read_pool::ReadPool;
use crate::row_keys::{Key, find_project};
use crate::store::Store;

/// A question, its answer, and what was said and done about it.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledTurn {
    pub number: TurnNumber,
    pub turn: TurnId,
    pub conversation: Option<ConversationId>,
    pub asked_at: Timestamp,
    pub opened: Position,
    /// What was asked; empty when that was dropped or erased.
    pub question: String,
    /// What was answered; empty when nothing was, or it is gone.
    pub answer: String,
    pub failed: bool,
    /// How it was taken, by whoever's word counts.
    pub status: VerdictStatus,
    pub confidence: UnitInterval,
    pub review: Option<VerdictStatus>,
    pub verdict: Option<GivenVerdict>,
    /// The latest rating: of a user, else of a machine of the application's.
    pub rating: Option<GivenRating>,
    /// What people wrote instead, in the order of the log.
    pub corrections: Vec<GivenCorrection>,
    pub regenerated: bool,
    /// The variants of experiments that served it.
    pub arms: Vec<ServedBy>,
    pub vector: Option<Vector>,
}

/// A variant of an experiment, as a turn was served it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedBy {
    pub experiment: ExperimentId,
    pub name: String,
    pub variant: String,
}

/// What a message says of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenVerdict {
    pub position: Position,
    pub status: VerdictStatus,
    pub correction_type: Option<CorrectionType>,
    pub confidence: UnitInterval,
}

/// How an answer was rated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenRating {
    pub position: Position,
    /// From 0 to 1.
    pub value: UnitInterval,
    /// 1 for a person.
    pub confidence: UnitInterval,
    pub when: Timestamp,
}

/// A better answer that somebody wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenCorrection {
    pub position: Position,
    pub event: EventId,
    pub turn: Option<TurnId>,
    pub conversation: Option<ConversationId>,
    pub corrected: String,
    /// What it corrects, if it says so.
    pub original: Option<String>,
    pub explanation: Option<String>,
    /// The question, as far as the correction itself says.
    pub query: Option<String>,
    pub when: Timestamp,
}

/// A stretch of corrections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corrections {
    pub turns: Vec<TurnNumber>,
    /// Corrections of no turn that is known.
    pub loose: Vec<GivenCorrection>,
    /// Where to go on; `None` when that was all.
    pub next: Option<Position>,
}

/// What may be another than it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// Turns that something happened to, as they are now; those that are neither accepted nor
    /// corrected without their words.
    pub turns: Vec<(TurnId, Option<LabelledTurn>)>,
    /// New corrections of no turn that is known.
    pub loose: Vec<GivenCorrection>,
    /// Corrections of no turn that were erased.
    pub gone: Vec<Position>,
    /// Everything up to here was looked at.
    pub upto: Position,
    pub more: bool,
}

/// A whole conversation, or a stretch of a very long one, in the order in which it was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledConversation {
    pub id: ConversationId,
    pub turns: Vec<LabelledTurn>,
}

/// Where a reader of conversations stands: behind this conversation, or inside it behind a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationCursor {
    pub conversation: Option<ConversationId>,
    /// The last turn of it that was read, when there are more.
    pub turn: Option<(Timestamp, TurnNumber)>,
}

impl ConversationCursor {
    /// Before the first turn of a conversation.
    pub fn conversation_start(conversation: ConversationId) -> Self {
        let first = (Timestamp::from_micros(i64::MIN), TurnNumber(0));
        Self { conversation: Some(conversation), turn: Some(first) }
    }
}

/// Answers as people took them.
pub trait LabelledTurnReads: Send + Sync {
    /// These turns as they are now. One that is gone is left out.
    fn judged(&self, turns: Vec<TurnNumber>) -> Task<'_, Vec<LabelledTurn>>;

    /// These corrections as they are now. One that is gone is left out.
    fn loose(&self, scope: &Scope, corrections: Vec<Position>) -> Task<'_, Vec<GivenCorrection>>;

    /// Turns whose answer was accepted, the newest first, older than this one.
    fn accepted(
        &self,
        scope: &Scope,
        older_than: Option<TurnNumber>,
        limit: usize,
    ) -> Task<'_, Vec<LabelledTurn>>;

    /// Corrections, the newest first, before this position.
    fn corrections(
        &self,
        scope: &Scope,
        before: Option<Position>,
        limit: usize,
    ) -> Task<'_, Corrections>;

    /// What was touched by the events behind a position, looking at so many of them at the most.
    fn changed(&self, scope: &Scope, after: Position, limit: usize) -> Task<'_, Changed>;

    /// The turns of the same conversation that were asked before each of these, the latest `most`, in
    /// the order in which they were asked; and the turn itself as the last. One that is gone is left
    /// out.
    fn with_context(&self, turns: Vec<TurnNumber>, most: usize)
    -> Task<'_, Vec<Vec<LabelledTurn>>>;

    /// Conversations by their id, behind a mark, with about so many turns together, and where the next page
    /// begins. A page may have none although more follow.
    fn labelled_conversations(
        &self,
        scope: &Scope,
        behind: ConversationCursor,
        turns: usize,
    ) -> Task<'_, (Vec<LabelledConversation>, Option<ConversationCursor>)>;
}

/// Who has connections for reading.
pub(crate) trait HasPool: Send + Sync {
    fn pool(&self) -> &ReadPool;
}

impl HasPool for Store {
    fn pool(&self) -> &ReadPool {
        &self.pool
    }
}

impl HasPool for ReadOnlyLog {
    fn pool(&self) -> &ReadPool {
        &self.pool
    }
}

impl<T: HasPool> LabelledTurnReads for T {
    fn judged(&self, turns: Vec<TurnNumber>) -> Task<'_, Vec<LabelledTurn>> {
        self.pool().run_some(turns.len(), move |connection| {
            read_turns(connection, turns.iter().map(|turn| turn.0))
        })
    }

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

    fn accepted(
        &self,
        scope: &Scope,
        older_than: Option<TurnNumber>,
        limit: usize,
    ) -> Task<'_, Vec<LabelledTurn>> {
        let scope = scope.clone();
        self.pool().run(move |connection| accepted(connection, &scope, older_than, limit))
    }

    fn corrections(
        &self,
        scope: &Scope,
        before: Option<Position>,
        limit: usize,
    ) -> Task<'_, Corrections> {
        let scope = scope.clone();
        self.pool().run(move |connection| corrections(connection, &scope, before, limit))
    }

    fn changed(&self, scope: &Scope, after: Position, limit: usize) -> Task<'_, Changed> {
        let scope = scope.clone();
        self.pool().run(move |connection| changes::behind(connection, &scope, after, limit))
    }

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

fn read_turns(
    connection: &Connection,
    turns: impl Iterator<Item = Key>,
) -> Result<Vec<LabelledTurn>, StoreError> {
    let mut found = Vec::new();
    for turn in turns {
        found.extend(turn::read_turn(connection, turn)?);
    }
    Ok(found)
}

fn accepted(
    connection: &Connection,
    scope: &Scope,
    older_than: Option<TurnNumber>,
    limit: usize,
) -> Result<Vec<LabelledTurn>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let mut select = connection.prepare_cached(
        "SELECT turn FROM turn_index INDEXED BY idx_feedback_status
         WHERE project = ?1 AND user_feedback_status = ?2 AND turn < ?3
         ORDER BY turn DESC LIMIT ?4",
    )?;
    let older_than = older_than.map_or(i64::MAX, |turn| turn.0);
    let wanted = (project, VerdictStatus::Accepted.as_word(), older_than, limit as i64);
    let turns: Vec<Key> = select.query_map(wanted, |row| row.get(0))?.collect::<Result<_, _>>()?;
    read_turns(connection, turns.into_iter())
}

/// A row of the log that may be a correction: where it is, and its turn with where that was opened.
type Place = (i64, Option<Key>, Option<i64>);

fn corrections(
    connection: &Connection,
    scope: &Scope,
    before: Option<Position>,
    limit: usize,
) -> Result<Corrections, StoreError> {
    let Some(project) = find_project(connection, scope)? else {
        return Ok(Corrections::default());
    };
    // The index alone says which they are; only their own rows are touched.
    let mut select = connection.prepare_cached(
        "SELECT e.position, e.turn, t.opened FROM events e LEFT JOIN turns t ON t.key = e.turn
         WHERE e.position IN (
             SELECT position FROM events INDEXED BY events_by_project
             WHERE project = ?1 AND position < ?2 AND source = ?3
             ORDER BY position DESC LIMIT ?4)
         ORDER BY e.position DESC",
    )?;
    let before = before.map_or(i64::MAX, |position| position.0 as i64);
    let wanted = (project, before, Source::UserCorrection.code(), limit as i64);
    let places = select.query_map(wanted, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let places: Vec<Place> = places.collect::<Result<_, _>>()?;
    let last = places.last().map(|(position, ..)| Position(*position as u64));
    let mut found =
        Corrections { next: last.filter(|_| places.len() == limit), ..Corrections::default() };
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
}
