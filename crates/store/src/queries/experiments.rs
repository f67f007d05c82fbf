//! Experiments, exposures and sums.

use model::{ExperimentId, ExperimentUnit, Moments, Position, Scope, Timestamp};
use serde_json::{Map, Value};
use sql::{Connection, OptionalExtension, Row};

use crate::error::{StoreError, Task};
use crate::projections::apply::read_sums;
use crate::projections::counters::UnitSums;
use crate::projections::moments::unpack;
use crate::row_keys::{Key, Table, find_key, find_project, read_project_scope};
use crate::store::Store;

#[derive(Clone, Debug, PartialEq)]
pub struct StoredExperiment {
    pub id: ExperimentId,
    /// The position of its definition.
    pub position: Position,
    pub definition: Map<String, Value>,
    pub status: String,
    pub created: Timestamp,
    /// The time of the last status change.
    pub changed: Timestamp,
    /// Changes of the traffic shares, in order.
    pub moves: Vec<StoredMove>,
}

/// A change of the traffic shares.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMove {
    /// Starting at 1.
    pub number: u32,
    pub ts: Timestamp,
    /// The share of each variant from then on.
    pub shares: Vec<f64>,
    /// The step and its evidence.
    pub step: Map<String, Value>,
}

/// The status of an experiment and one unit's exposure, for an assignment in one read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStanding {
    /// The position of its definition.
    pub position: Position,
    pub status: String,
    /// The number of share changes.
    pub moves: u32,
    /// `None` for a unit that was never exposed.
    pub exposure: Option<StoredExposure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredExposure {
    pub first: u32,
    pub current: u32,
}

/// The end of a page of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitCursor {
    /// The unit's key.
    pub unit: i64,
    /// -1 for the time before the exposure.
    pub variant: i64,
}

/// A unit's sums under one variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredUnit {
    pub mark: UnitCursor,
    /// `None` for the time before the exposure.
    pub variant: Option<u32>,
    /// Share changes before the unit was first served this variant.
    pub moves: u32,
    pub first: bool,
    pub sums: UnitSums,
}

/// Sums over all units first served a variant after a number of share changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSums {
    pub variant: u32,
    pub moves: u32,
    pub exposed: u64,
    /// The experiment's metric over those units, then each guardrail over all units.
    pub moments: Vec<Moments>,
}

pub type ExperimentScope = (Scope, ExperimentId);

impl Store {
    pub fn experiment(
        &self,
        scope: &Scope,
        id: &ExperimentId,
    ) -> Task<'_, Option<StoredExperiment>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run_short(move |connection| one(connection, &scope, &id))
    }

    /// Experiments of a project defined after a position, in order.
    pub fn experiments(
        &self,
        scope: &Scope,
        after: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredExperiment>> {
        let scope = scope.clone();
        self.pool.run(move |connection| page(connection, &scope, after, limit))
    }

    /// Running and paused experiments of all projects.
    pub fn experiments_going_on(&self) -> Task<'_, Vec<ExperimentScope>> {
        self.pool.run(going_on)
    }

    /// The status of an experiment, and the variant of a user or conversation.
    pub fn experiment_standing(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        unit_id: &str,
    ) -> Task<'_, Option<StoredStanding>> {
        let (scope, id, unit_id) = (scope.clone(), id.clone(), unit_id.to_owned());
        self.pool.run_short(move |connection| standing(connection, &scope, &id, &unit_id))
    }

    /// The sums of an experiment by variant and number of share changes, as of one moment.
    pub fn experiment_sums(&self, scope: &Scope, id: &ExperimentId) -> Task<'_, Vec<StoredSums>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run(move |connection| sums(connection, &scope, &id))
    }

    /// The sums at the end of each day with a change, in order, with the day since 1970. At most
    /// `limit` rows.
    pub fn experiment_days(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        limit: usize,
    ) -> Task<'_, Vec<(i64, StoredSums)>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run(move |connection| days(connection, &scope, &id, limit))
    }

    /// Rows of units after a cursor. A unit's time before the exposure comes before its variants.
    pub fn experiment_units(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        after: Option<UnitCursor>,
        limit: usize,
    ) -> Task<'_, Vec<StoredUnit>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run(move |connection| units(connection, &scope, &id, after, limit))
    }
}

const SELECT: &str = "SELECT key, id, definition, status, created, changed FROM experiments";

fn one(
    connection: &Connection,
    scope: &Scope,
    id: &ExperimentId,
) -> Result<Option<StoredExperiment>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let mut select =
        connection.prepare_cached(&format!("{SELECT} WHERE project = ?1 AND id = ?2"))?;
    let mut rows = select.query((project, id.as_str()))?;
    rows.next()?.map(|row| read(connection, &row)).transpose()
}

fn page(
    connection: &Connection,
    scope: &Scope,
    after: Position,
    limit: usize,
) -> Result<Vec<StoredExperiment>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let sql = format!("{SELECT} WHERE project = ?1 AND key > ?2 ORDER BY key LIMIT ?3");
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query((project, after.0 as i64, limit as i64))?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        found.push(read(connection, row)?);
    }
    Ok(found)
}

fn read(connection: &Connection, row: &Row<'_>) -> Result<StoredExperiment, StoreError> {
    let (key, id): (Key, String) = (row.get(0)?, row.get(1)?);
    let unreadable = || StoreError::Corrupt(format!("invalid experiment with key {key}"));
    let definition: String = row.get(2)?;
    Ok(StoredExperiment {
        id: ExperimentId::new(id).map_err(|_| unreadable())?,
        position: Position(key as u64),
        definition: serde_json::from_str(&definition).map_err(|_| unreadable())?,
        status: row.get(3)?,
        created: Timestamp::from_micros(row.get(4)?),
        changed: Timestamp::from_micros(row.get(5)?),
        moves: moves(connection, key)?,
    })
}

fn moves(connection: &Connection, experiment: Key) -> Result<Vec<StoredMove>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT number, ts, shares, step FROM experiment_moves
         WHERE experiment = ?1 ORDER BY number",
    )?;
    let mut rows = select.query([experiment])?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let (shares, step): (String, String) = (row.get(2)?, row.get(3)?);
        let unreadable =
            |_| StoreError::Corrupt(format!("invalid share change of experiment {experiment}"));
        found.push(StoredMove {
            number: row.get(0)?,
            ts: Timestamp::from_micros(row.get(1)?),
            shares: serde_json::from_str(&shares).map_err(unreadable)?,
            step: serde_json::from_str(&step).map_err(unreadable)?,
        });
    }
    Ok(found)
}

fn going_on(connection: &Connection) -> Result<Vec<ExperimentScope>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT project, id FROM experiments WHERE status IN ('RUNNING', 'PAUSED') ORDER BY key",
    )?;
    let mut rows = select.query(())?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let (project, id): (Key, String) = (row.get(0)?, row.get(1)?);
        // An unreadable experiment must not block the others.
        match (read_project_scope(connection, project), ExperimentId::new(id)) {
            (Ok(scope), Ok(id)) => found.push((scope, id)),
            (Err(error @ (sql::Error::NoRows | sql::Error::Unreadable(_))), _) => {
                tracing::warn!(%error, project, "an experiment has no project; skipped");
            }
            // The database is unavailable, so no experiment can be read.
            (Err(error), _) => return Err(error.into()),
            (_, Err(error)) => {
                tracing::warn!(%error, project, "an experiment has an invalid id; skipped")
            }
        }
    }
    Ok(found)
}

fn resolve_key(
    connection: &Connection,
    scope: &Scope,
    id: &ExperimentId,
) -> sql::Result<Option<Key>> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    connection
        .prepare_cached("SELECT key FROM experiments WHERE project = ?1 AND id = ?2")?
        .query_row((project, id.as_str()), |row| row.get(0))
        .optional()
}

fn standing(
    connection: &Connection,
    scope: &Scope,
    id: &ExperimentId,
    unit_id: &str,
) -> Result<Option<StoredStanding>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let found: Option<(Key, u8, String, u32)> = connection
        .prepare_cached(
            "SELECT key, unit, status,
                 (SELECT COUNT(*) FROM experiment_moves WHERE experiment = key)
             FROM experiments WHERE project = ?1 AND id = ?2",
        )?
        .query_row((project, id.as_str()), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    let Some((experiment, kind, status, moves)) = found else { return Ok(None) };
    let is_user = kind == ExperimentUnit::User.code();
    let table = if is_user { Table::Users } else { Table::Conversations };
    let exposure = match find_key(connection, table, project, unit_id)? {
        Some(unit) => exposure(connection, experiment, unit)?,
        None => None,
    };
    let position = Position(experiment as u64);
    Ok(Some(StoredStanding { position, status, moves, exposure }))
}

fn exposure(
    connection: &Connection,
    experiment: Key,
    unit: Key,
) -> Result<Option<StoredExposure>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT variant, first, current FROM experiment_units
         WHERE experiment = ?1 AND unit = ?2 AND variant >= 0",
    )?;
    let mut rows = select.query((experiment, unit))?;
    let (mut first, mut current) = (None, None);
    while let Some(row) = &rows.next()? {
        let variant: u32 = row.get(0)?;
        first = first.or(row.get::<_, bool>(1)?.then_some(variant));
        current = current.or(row.get::<_, bool>(2)?.then_some(variant));
    }
    Ok(first.zip(current).map(|(first, current)| StoredExposure { first, current }))
}

fn sums(
    connection: &Connection,
    scope: &Scope,
    id: &ExperimentId,
) -> Result<Vec<StoredSums>, StoreError> {
    let Some(experiment) = resolve_key(connection, scope, id)? else { return Ok(Vec::new()) };
    let mut select = connection.prepare_cached(
        "SELECT variant, moves, exposed, sums FROM experiment_sums
         WHERE experiment = ?1 ORDER BY variant, moves",
    )?;
    let mut rows = select.query([experiment])?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        found.push(read_stored_sums(row, experiment)?);
    }
    Ok(found)
}

fn read_stored_sums(row: &Row<'_>, experiment: Key) -> Result<StoredSums, StoreError> {
    let unreadable = || StoreError::Corrupt(format!("invalid sums of experiment {experiment}"));
    let (exposed, packed): (i64, Vec<u8>) = (row.get(2)?, row.get(3)?);
    Ok(StoredSums {
        variant: row.get(0)?,
        moves: row.get(1)?,
        exposed: u64::try_from(exposed).map_err(|_| unreadable())?,
        moments: unpack(&packed).ok_or_else(unreadable)?,
    })
}

fn days(
    connection: &Connection,
    scope: &Scope,
    id: &ExperimentId,
    limit: usize,
) -> Result<Vec<(i64, StoredSums)>, StoreError> {
    let Some(experiment) = resolve_key(connection, scope, id)? else { return Ok(Vec::new()) };
    let mut select = connection.prepare_cached(
        "SELECT variant, moves, exposed, sums, day FROM experiment_days
         WHERE experiment = ?1 ORDER BY day, variant, moves LIMIT ?2",
    )?;
    let mut rows = select.query((experiment, limit as i64))?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        found.push((row.get(4)?, read_stored_sums(row, experiment)?));
    }
    Ok(found)
}

fn units(
    connection: &Connection,
    scope: &Scope,
    id: &ExperimentId,
    after: Option<UnitCursor>,
    limit: usize,
) -> Result<Vec<StoredUnit>, StoreError> {
    let Some(experiment) = resolve_key(connection, scope, id)? else { return Ok(Vec::new()) };
    let after = after.unwrap_or(UnitCursor { unit: i64::MIN, variant: 0 });
    let mut select = connection.prepare_cached(&format!(
        "SELECT unit, variant, moves, first, {} FROM experiment_units
         WHERE experiment = ?1 AND (unit, variant) > (?2, ?3)
         ORDER BY unit, variant LIMIT ?4",
        UnitSums::COLUMNS.join(", ")
    ))?;
    let values = (experiment, after.unit, after.variant, limit as i64);
    let found = select.query_map(values, read_unit)?.collect::<Result<_, _>>()?;
    Ok(found)
}

fn read_unit(row: &Row<'_>) -> sql::Result<StoredUnit> {
    let mark = UnitCursor { unit: row.get(0)?, variant: row.get(1)? };
    Ok(StoredUnit {
        mark,
        variant: u32::try_from(mark.variant).ok(),
        moves: row.get(2)?,
        first: row.get(3)?,
        sums: read_sums(row, 4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maintenance::migrations;
    use crate::sqlite;

    #[test]
    fn outage_is_not_taken_for_a_missing_project() {
        let folder = tempfile::tempdir().unwrap();
        let file = sqlite::writer(&folder.path().join("uptake.db")).unwrap();
        let mut connection = Connection::Sqlite(file);
        migrations::migrate_to_newest(&mut connection).unwrap();
        let put =
            "INSERT INTO experiments (key, project, id, unit, definition, status, created, changed)
            VALUES (1, 7, 'x', 1, '{}', 'RUNNING', 0, 0)";
        connection.execute_batch(put).unwrap();
        assert_eq!(going_on(&connection).unwrap(), [], "there is no such project");
        connection.execute_batch("DROP TABLE projects").unwrap();
        assert!(going_on(&connection).is_err());
    }
}
