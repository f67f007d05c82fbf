//! The index of similar turns: in memory, kept in step with the database by the writer.
//!
//! Whenever a commit touches the index of turns or a vector, the writer puts the turn as it is now
//! into memory before it answers, so that the very next request finds it. At start a thread reads
//! everything in, beside requests.

mod entry;
mod shelves;
mod thread;
mod touched;

use model::{Scope, Timestamp, UnitInterval, VerdictStatus};

use super::keys::{Table, find_key, find_project};
use super::{Store, exchanges};
use crate::error::StoreError;
use crate::log::Task;
use crate::read::exchanges::StoredExchange;
use crate::read::similar::{SimilarQuery, SimilarTurn, SimilarTurns, TurnNumber};
use sql::Connection;
use std::sync::Arc;
use vector_index::{Filter, Near};

impl Store {
    /// The turns most like a question. A turn is found as soon as its answer is stored.
    pub fn similar(&self, query: SimilarQuery) -> Task<'_, SimilarTurns> {
        let shelves = Arc::clone(&self.shelves);
        self.pool.run(move |connection| self::find(connection, &shelves, &query))
    }

    /// Turns that were found, with what was asked and answered. One that is gone by now is `None`, also
    /// when its number is another scope's by now.
    pub fn found(
        &self,
        scope: &Scope,
        turns: Vec<TurnNumber>,
    ) -> Task<'_, Vec<Option<StoredExchange>>> {
        let scope = scope.clone();
        self.pool.run_some(turns.len(), move |connection| {
            let Some(project) = find_project(connection, &scope)? else {
                return Ok(vec![None; turns.len()]);
            };
            turns.iter().map(|turn| exchanges::by_key(connection, project, turn.0)).collect()
        })
    }
}

pub(super) use shelves::Shelves;
pub(super) use thread::Loader;
pub(super) use touched::Touched;

/// The turns most like a question, from memory.
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
    let of = |status: VerdictStatus| move |near: Near| similar_turn(near, status);
    let turns = found.accepted.into_iter().map(of(VerdictStatus::Accepted));
    let turns = turns.chain(found.neutral.into_iter().map(of(VerdictStatus::Neutral)));
    let turns = turns.chain(found.rejected.into_iter().map(of(VerdictStatus::Rejected)));
    Ok(SimilarTurns { turns: turns.collect(), exact: found.exact, complete })
}

fn similar_turn(near: Near, status: VerdictStatus) -> SimilarTurn {
    let labels = near.labels;
    SimilarTurn {
        number: TurnNumber(near.key),
        similarity: f64::from(near.similarity),
        status,
        quality: labels.quality.get().and_then(UnitInterval::new),
        silent: labels.silent,
        ts: Timestamp::from_micros(labels.ts),
        has_strategy: labels.has_strategy,
    }
}
