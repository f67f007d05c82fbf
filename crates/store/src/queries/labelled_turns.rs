//! Reads answers with what people said and did about them.

mod conversations;
mod changes;
mod turn;

use model::{Position, Scope, Source, VerdictStatus};

use super::keys::{Key, find_project};
use super::pool::ReadPool;
use super::{SqlLog, Store};
use crate::error::StoreError;
use crate::log::Task;
use crate::read::judged::{
    Changed, ConversationMark, Corrections, GivenCorrection, JudgedConversation, JudgedExchange,
    JudgedReads,
};
use crate::read::similar::TurnNumber;
use sql::Connection;

/// Who has connections for reading.
pub(super) trait HasPool: Send + Sync {
    fn pool(&self) -> &ReadPool;
}

impl HasPool for Store {
    fn pool(&self) -> &ReadPool {
        &self.pool
    }
}

impl HasPool for SqlLog {
    fn pool(&self) -> &ReadPool {
        &self.pool
    }
}

impl<T: HasPool> JudgedReads for T {
    fn judged(&self, turns: Vec<TurnNumber>) -> Task<'_, Vec<JudgedExchange>> {
        self.pool().run_some(turns.len(), move |connection| {
            of_keys(connection, turns.iter().map(|turn| turn.0))
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
    ) -> Task<'_, Vec<JudgedExchange>> {
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
    ) -> Task<'_, Vec<Vec<JudgedExchange>>> {
        self.pool().run(move |connection| {
            let mut found = Vec::with_capacity(turns.len());
            for turn in turns {
                found.extend(conversations::up_to(connection, turn.0, most)?);
            }
            Ok(found)
        })
    }

    fn judged_conversations(
        &self,
        scope: &Scope,
        behind: ConversationMark,
        turns: usize,
    ) -> Task<'_, (Vec<JudgedConversation>, Option<ConversationMark>)> {
        let scope = scope.clone();
        self.pool().run(move |connection| conversations::page(connection, &scope, behind, turns))
    }
}

fn of_keys(
    connection: &Connection,
    turns: impl Iterator<Item = Key>,
) -> Result<Vec<JudgedExchange>, StoreError> {
    let mut found = Vec::new();
    for turn in turns {
        found.extend(turn::of(connection, turn)?);
    }
    Ok(found)
}

fn accepted(
    connection: &Connection,
    scope: &Scope,
    older_than: Option<TurnNumber>,
    limit: usize,
) -> Result<Vec<JudgedExchange>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let mut select = connection.prepare_cached(
        "SELECT turn FROM turn_index INDEXED BY idx_feedback_status
         WHERE project = ?1 AND user_feedback_status = ?2 AND turn < ?3
         ORDER BY turn DESC LIMIT ?4",
    )?;
    let older_than = older_than.map_or(i64::MAX, |turn| turn.0);
    let wanted = (project, VerdictStatus::Accepted.as_word(), older_than, limit as i64);
    let turns: Vec<Key> = select.query_map(wanted, |row| row.get(0))?.collect::<Result<_, _>>()?;
    of_keys(connection, turns.into_iter())
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
