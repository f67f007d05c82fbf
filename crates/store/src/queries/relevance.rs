//! The use of retrieved items.

use model::{BANDS, ItemStanding, Scope};
use sql::Row;

use crate::error::Task;
use crate::event_rows::{self, StoredEvent};
use crate::projections::apply;
use crate::row_keys::find_project;
use crate::store::Store;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredTally {
    pub used: u64,
    pub ignored: u64,
    /// Queries for which it was rated helpful.
    pub positive: u64,
    pub negative: u64,
    /// Returns by rank band.
    pub returned: [u64; BANDS],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTallies {
    /// For each requested item: over all queries, and within the cluster.
    pub items: Vec<(Option<StoredTally>, Option<StoredTally>)>,
    /// Returns and uses by rank band.
    pub totals: [(u64, u64); BANDS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// Most used and rated helpful.
    Helpful,
    Ignored,
}

impl Store {
    /// The latest events with a query's results, oldest first.
    pub fn returned(&self, scope: &Scope, query: &str, limit: usize) -> Task<'_, Vec<StoredEvent>> {
        let (scope, query) = (scope.clone(), query.to_owned());
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            let positions: Vec<i64> = connection.read_rows(
                "SELECT position FROM returned WHERE project = ?1 AND query = ?2
                 ORDER BY position DESC LIMIT ?3",
                (project, &query, limit as i64),
            )?;
            let event_at = |position| event_rows::event_at(connection, &scope, position);
            positions.into_iter().rev().map(event_at).filter_map(Result::transpose).collect()
        })
    }

    /// The standing of a query's items, in the order of the request.
    pub fn standings(
        &self,
        scope: &Scope,
        query: &str,
        entities: Vec<String>,
    ) -> Task<'_, Vec<ItemStanding>> {
        let (scope, query) = (scope.clone(), query.to_owned());
        self.pool.run_some(entities.len() / 4, move |connection| {
            let Some(project) = find_project(connection, &scope)? else {
                return Ok(vec![ItemStanding::default(); entities.len()]);
            };
            let found = entities.iter().map(|entity| {
                Ok(apply::item_standing(connection, project, &query, entity)?.unwrap_or_default())
            });
            found.collect()
        })
    }

    /// Counters of items, in the order of the request.
    pub fn tallies(
        &self,
        scope: &Scope,
        cluster: Option<u64>,
        entities: Vec<String>,
    ) -> Task<'_, StoredTallies> {
        let scope = scope.clone();
        // Two narrow rows each, so more of them fit a short read than turns.
        self.pool.run_some(entities.len() / 4, move |connection| {
            let mut found = StoredTallies::default();
            let Some(project) = find_project(connection, &scope)? else {
                found.items = vec![(None, None); entities.len()];
                return Ok(found);
            };
            let select = format!("SELECT {COLUMNS} FROM");
            let mut one = connection.prepare_cached(&format!(
                "{select} entity_tallies WHERE project = ?1 AND entity = ?2"
            ))?;
            let mut pair = connection.prepare_cached(&format!(
                "{select} pair_tallies WHERE project = ?1 AND cluster = ?2 AND entity = ?3"
            ))?;
            let tally = |row: &Row<'_>| read(row, 0);
            for entity in &entities {
                let known = one.find_row_with((project, entity), tally)?;
                let under = match cluster.filter(|_| known.is_some()).map(u64::cast_signed) {
                    None => None,
                    Some(cluster) => pair.find_row_with((project, cluster, entity), tally)?,
                };
                found.items.push((known, under));
            }
            let sql = "SELECT band, returned, used FROM rank_totals WHERE project = ?1";
            for (band, returned, used) in connection.read_rows::<(u8, i64, i64)>(sql, [project])? {
                if let Some(place) = found.totals.get_mut(usize::from(band)) {
                    *place = (returned as u64, used as u64);
                }
            }
            Ok(found)
        })
    }

    /// The first items by a ranking.
    pub fn extremes(
        &self,
        scope: &Scope,
        which: Extreme,
        limit: usize,
    ) -> Task<'_, Vec<(String, StoredTally)>> {
        let scope = scope.clone();
        self.pool.run(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            // The order of the index, so that only the first rows are read.
            let order = match which {
                Extreme::Helpful => "positive + used - negative",
                Extreme::Ignored => "ignored - used + negative",
            };
            let sql = format!(
                "SELECT entity, {COLUMNS} FROM entity_tallies WHERE project = ?1 AND {order} > 0
                 ORDER BY {order} DESC, entity LIMIT ?2"
            );
            connection.read_rows_with(&sql, (project, limit as i64), |row| {
                Ok((row.get(0)?, read(row, 1)?))
            })
        })
    }
}

const COLUMNS: &str =
    "used, ignored, positive, negative, r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10,
    r11";

fn read(row: &Row<'_>, from: usize) -> sql::Result<StoredTally> {
    let count = |column: usize| -> sql::Result<u64> {
        let count: i64 = row.get(from + column)?;
        Ok(u64::try_from(count).unwrap_or(0))
    };
    let mut returned = [0; BANDS];
    for (band, place) in returned.iter_mut().enumerate() {
        *place = count(4 + band)?;
    }
    let (used, ignored, positive, negative) = (count(0)?, count(1)?, count(2)?, count(3)?);
    Ok(StoredTally { used, ignored, positive, negative, returned })
}
