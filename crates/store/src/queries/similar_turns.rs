//! Finds turns with similar questions.

use std::sync::Arc;

use model::{Scope, Timestamp, UnitInterval, VerdictStatus};
use vector_index::{Filter, Near};

use crate::error::Task;
use crate::queries::exchanges::{self, StoredExchange};
use crate::row_keys::{Table, find_key, find_project};
use crate::similarity::{self, SimilarQuery};
use crate::store::Store;

/// The store's key of a turn, for further queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TurnNumber(pub(crate) i64);

/// A similar turn, with the labels of the in-memory index.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarTurn {
    pub number: TurnNumber,
    pub similarity: f64,
    pub status: VerdictStatus,
    /// The validator's score, to about four digits.
    pub quality: Option<UnitInterval>,
    pub silent: bool,
    pub ts: Timestamp,
    pub has_strategy: bool,
}

/// The most similar turns of each status, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimilarTurns {
    /// By status, then by similarity.
    pub turns: Vec<SimilarTurn>,
    /// True when every turn was compared. False when sketches preselected candidates.
    pub exact: bool,
    /// True when the index is fully loaded.
    pub complete: bool,
}

impl Store {
    /// The turns most similar to a question. A turn is found as soon as its answer is stored.
    pub fn similar(&self, query: SimilarQuery) -> Task<'_, SimilarTurns> {
        let indexes = Arc::clone(&self.indexes);
        self.pool.run(move |connection| {
            let nothing = SimilarTurns { exact: true, complete: true, ..SimilarTurns::default() };
            let Some(project) = find_project(connection, &query.scope)? else { return Ok(nothing) };
            let user = match &query.user {
                None => None,
                Some(user) => match find_key(connection, Table::Users, project, user.as_str())? {
                    Some(key) => Some(similarity::short_user(key)),
                    None => return Ok(nothing),
                },
            };
            let intent = query.intent.as_deref().map(similarity::intent_hash);
            let complete = indexes.is_complete();
            let found = indexes.search(project, &query, Filter { user, intent });
            let by_status = [
                (VerdictStatus::Accepted, found.accepted),
                (VerdictStatus::Neutral, found.neutral),
                (VerdictStatus::Rejected, found.rejected),
            ];
            let similar = |(status, turns): (VerdictStatus, Vec<Near>)| {
                turns.into_iter().map(move |near| similar_turn(near, status))
            };
            let turns = by_status.into_iter().flat_map(similar).collect();
            Ok(SimilarTurns { turns, exact: found.exact, complete })
        })
    }

    /// Reads similar turns with question and answer. `None` for a turn that is gone, or whose key
    /// now belongs to another scope.
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
