//! The index of similar turns: in memory, kept in step with the database by the writer.
//!
//! Whenever a commit touches the index of turns or a vector, the writer puts the turn as it is now
//! into memory before it answers, so that the very next request finds it. At start a thread reads
//! everything in, beside requests.

mod entry;
mod shelves;
mod thread;
mod touched;

use event::{Timestamp, TurnId, UnitInterval, ValidationOutcome, VerdictStatus};
use rusqlite::{Connection, OptionalExtension};

use super::keys::{Key, Table, find_key, find_project};
use crate::error::StoreError;
use crate::read::similar::{SimilarQuery, SimilarTurn, SimilarTurns};
use crate::vectors::{Filter, Near};

pub(super) use shelves::Shelves;
pub(super) use thread::Loader;
pub(super) use touched::Touched;

/// The turns most like a question.
pub(super) fn find(
    connection: &Connection,
    shelves: &Shelves,
    query: &SimilarQuery,
) -> Result<SimilarTurns, StoreError> {
    let nothing = SimilarTurns { exact: true, complete: true, ..SimilarTurns::default() };
    let Some(project) = find_project(connection, &query.scope)? else { return Ok(nothing) };
    let user = match &query.user {
        None => None,
        Some(user) => match find_key(connection, Table::Users, project, user.as_str())? {
            Some(key) => Some(entry::short(key)),
            None => return Ok(nothing),
        },
    };
    let intent = query.intent.as_deref().map(entry::intent_hash);
    let complete = shelves.is_complete();
    let found = shelves.search(project, query, Filter { user, intent });
    let mut turns = Vec::new();
    for near in found.accepted.iter().chain(&found.neutral).chain(&found.rejected) {
        turns.extend(read(connection, near)?);
    }
    Ok(SimilarTurns { turns, exact: found.exact, complete })
}

/// A turn as the database has it, which may be a moment newer than the index in memory.
fn read(connection: &Connection, near: &Near) -> Result<Option<SimilarTurn>, StoreError> {
    let key: Key = near.key;
    let row = connection
        .prepare_cached(
            "SELECT t.id, i.user_feedback_status, i.quality_score, i.validation_outcome, i.silent,
                 t.ts, i.has_strategy
             FROM turn_index i JOIN turns t ON t.key = i.turn WHERE i.turn = ?1",
        )?
        .query_row([key], |row| {
            let (id, status): (String, String) = (row.get(0)?, row.get(1)?);
            let (quality, outcome): (Option<f64>, Option<u8>) = (row.get(2)?, row.get(3)?);
            let rest: (bool, i64, bool) = (row.get(4)?, row.get(5)?, row.get(6)?);
            Ok((id, status, quality, outcome, rest))
        })
        .optional()?;
    let Some((id, status, quality, outcome, (silent, ts, has_strategy))) = row else {
        return Ok(None);
    };
    let unreadable = || StoreError::Corrupt(format!("turn {key} of the index cannot be read"));
    Ok(Some(SimilarTurn {
        turn: TurnId::new(id).map_err(|_| unreadable())?,
        similarity: f64::from(near.similarity),
        status: VerdictStatus::from_word(&status).ok_or_else(unreadable)?,
        quality: quality.and_then(UnitInterval::new),
        outcome: outcome.and_then(ValidationOutcome::from_code),
        silent,
        ts: Timestamp::from_micros(ts),
        has_strategy,
    }))
}
