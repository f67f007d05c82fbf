//! Finds and drops old events. The projections' baseline keeps their effects.

use std::ops::Range;

use model::{Position, Tenant, Timestamp};
use sql::Connection;

use crate::error::StoreError;
use crate::row_keys::{Key, find_projects};

const BATCH_EVENTS: i64 = 500;
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

pub(crate) fn drop_events(
    connection: &mut Connection,
    positions: &[Position],
) -> Result<usize, StoreError> {
    if positions.is_empty() {
        return Ok(0);
    }
    // The numbers come from the database, not from a request.
    let numbers: Vec<String> = positions.iter().map(Position::to_string).collect();
    let sql = format!("DELETE FROM events WHERE position IN ({})", numbers.join(","));
    Ok(connection.execute(&sql, ())?)
}
