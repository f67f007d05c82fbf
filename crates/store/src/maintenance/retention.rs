//! Finds and drops old events. The baseline of their project keeps their effects.
//!
//! Each step is a transaction of a few milliseconds. After a crash between two steps the baseline
//! may cover events that are still there; a rebuild skips them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::{Position, Tenant, Timestamp};
use sql::Connection;

#[cfg(feature = "scaled")]
use crate::connection_source::Purpose;
#[cfg(feature = "scaled")]
use crate::connection_source::Source;
use crate::error::StoreError;
use crate::event_rows::newest_position;
use crate::meta;
use crate::metrics::Stopwatch;
use crate::projections::baseline::{self, ChangesOf, STEP};
use crate::projections::baseline_positions::lock_position;
use crate::row_keys::{Key, find_projects};

const BATCH_EVENTS: i64 = 500;
/// Events dropped before the time of a step is checked.
const STEP_EVENTS: usize = 16;
/// Positions at which a project's log is searched for old events.
const PROBES_PER_PROJECT: i64 = 64;

/// Finds a batch of a tenant's events from before a time, up to a position.
pub(crate) fn old_events(
    connection: &Connection,
    tenant: &Tenant,
    before: Timestamp,
    upto: Option<Position>,
) -> Result<Vec<Position>, StoreError> {
    let projects = find_projects(connection, tenant, None)?;
    let upto = upto.and_then(|upto| i64::try_from(upto.0).ok()).unwrap_or(i64::MAX);
    // First the beginning of each log, where old events are dense. Then the rest need not be
    // searched again for every batch.
    for places in [0..1, 1..PROBES_PER_PROJECT] {
        for project in &projects {
            let found = old_in_project(connection, *project, before, upto, places.clone())?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }
    Ok(Vec::new())
}

/// The first expired event of each project of a tenant.
pub(crate) fn first_old_events(
    connection: &Connection,
    tenant: &Tenant,
    before: Timestamp,
) -> Result<Vec<Position>, StoreError> {
    let first = |project| {
        let found = old_in_project(connection, project, before, i64::MAX, 0..PROBES_PER_PROJECT);
        found.map(|found| found.first().copied()).transpose()
    };
    find_projects(connection, tenant, None)?.into_iter().filter_map(first).collect()
}

/// Positions follow arrival times almost always, so the oldest positions are searched first. Clocks
/// may have been wrong and dead letters are stored late, so further probes are spread over the log.
/// An index by time would slow every write.
fn old_in_project(
    connection: &Connection,
    project: Key,
    before: Timestamp,
    upto: i64,
    places: Range<i64>,
) -> Result<Vec<Position>, StoreError> {
    let Some(first) = log_end(connection, project, upto, "ASC")? else { return Ok(Vec::new()) };
    let last = log_end(connection, project, upto, "DESC")?.unwrap_or(first);
    let step = ((last - first) / PROBES_PER_PROJECT + 1).max(BATCH_EVENTS);
    for place in places {
        let from = first + place * step;
        if from > last {
            break;
        }
        let found: Vec<i64> = connection.read_rows(
            "SELECT position FROM (
                 SELECT position, received_at FROM events INDEXED BY events_by_project
                 WHERE project = ?1 AND position >= ?2 AND position <= ?3
                 ORDER BY position LIMIT ?4) stretch
             WHERE received_at < ?5 ORDER BY position",
            (project, from, upto, BATCH_EVENTS, before.as_micros()),
        )?;
        if !found.is_empty() {
            return Ok(found.into_iter().map(|position| Position(position as u64)).collect());
        }
    }
    Ok(Vec::new())
}

/// The first or last position of a project.
fn log_end(
    connection: &Connection,
    project: Key,
    upto: i64,
    order: &str,
) -> sql::Result<Option<i64>> {
    let sql = format!(
        "SELECT position FROM events INDEXED BY events_by_project
         WHERE project = ?1 AND position <= ?2 ORDER BY position {order} LIMIT 1"
    );
    connection.find_row(&sql, (project, upto))
}

/// Events to drop, by project. Runs in steps, so that other writers proceed in between.
pub(crate) struct Removal {
    projects: BTreeMap<Key, BTreeSet<Position>>,
    changes_of: ChangesOf,
    keeps_events: bool,
    pub(crate) dropped: usize,
}

impl Removal {
    pub(crate) fn new(
        connection: &Connection,
        positions: &[Position],
        changes_of: ChangesOf,
    ) -> Result<Self, StoreError> {
        let mut projects: BTreeMap<Key, BTreeSet<Position>> = BTreeMap::new();
        for some in positions.chunks(STEP_EVENTS) {
            let sql = format!(
                "SELECT project, position FROM events WHERE position IN ({})",
                list(some.iter())
            );
            let mut select = connection.prepare(&sql)?;
            for row in select.query_map((), |row| row.read::<(Key, i64)>())? {
                let (project, position) = row?;
                projects.entry(project).or_default().insert(Position(position as u64));
            }
        }
        Ok(Self { projects, changes_of, keeps_events: false, dropped: 0 })
    }

    /// Moves the baselines and drops nothing.
    pub(crate) fn keep_events(self) -> Self {
        Self { keeps_events: true, ..self }
    }

    /// Moves the baseline of a project, or drops events that it covers. Returns true at the end.
    pub(crate) fn step(&mut self, connection: &mut Connection) -> Result<bool, StoreError> {
        let Some(mut entry) = self.projects.first_entry() else { return Ok(true) };
        let (project, positions) = (*entry.key(), entry.get_mut());
        let Some(upto) = positions.last().copied() else {
            entry.remove();
            return Ok(self.projects.is_empty());
        };
        if !baseline::advance(connection, project, upto, self.changes_of)? {
            return Ok(false);
        }
        if self.keeps_events {
            entry.remove();
            return Ok(self.projects.is_empty());
        }
        self.dropped += drop_some(connection, project, positions)?;
        Ok(false)
    }
}

/// Runs all steps on a session of their own, beside the writers of all nodes.
#[cfg(feature = "scaled")]
pub(crate) fn run_apart(source: &Source, mut removal: Removal) -> Result<usize, StoreError> {
    let mut connection = source.reader(Purpose::Lookup)?;
    while !removal.step(&mut connection)? {}
    Ok(removal.dropped)
}

/// Drops events of a project that its baseline covers, and removes them from the set.
fn drop_some(
    connection: &mut Connection,
    project: Key,
    positions: &mut BTreeSet<Position>,
) -> Result<usize, StoreError> {
    let watch = Stopwatch::start();
    let transaction = connection.transaction_beside_the_log()?;
    let Some(covered) = lock_position(&transaction, project)? else {
        positions.clear();
        return Ok(0);
    };
    let end = newest_position(&transaction)?;
    let (mut dropped, mut last) = (0, Position(0));
    let covered: Vec<Position> = positions.range(..=covered).copied().collect();
    for some in covered.chunks(STEP_EVENTS) {
        // The numbers come from the database, not from a request.
        let sql = format!("DELETE FROM events WHERE position IN ({})", list(some.iter()));
        dropped += transaction.execute(&sql, ())?;
        last = some.last().copied().unwrap_or(last);
        if watch.elapsed() >= STEP {
            break;
        }
    }
    if newest_position(&transaction)? < end {
        meta::write_position(&transaction, meta::REMOVED_POSITION, end)?;
    }
    transaction.commit()?;
    *positions = positions.split_off(&Position(last.0 + 1));
    Ok(dropped)
}

fn list<'p>(positions: impl Iterator<Item = &'p Position>) -> String {
    positions.map(Position::to_string).collect::<Vec<_>>().join(",")
}
