//! Experiments, exposures and sums.

use model::{ExperimentId, ExperimentUnit, Moments, Position, Scope, Timestamp};
use serde_json::{Map, Value};
use sql::{Connection, Row};

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
    /// Exposed units in the evidence of an adaptive step.
    pub units: Option<f64>,
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
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(None) };
            let sql = format!("{SELECT} WHERE project = ?1 AND id = ?2");
            connection.find_row_with(&sql, (project, id.as_str()), |row| read(connection, row))
        })
    }

    /// Experiments of a project defined after a position, in order.
    pub fn experiments(
        &self,
        scope: &Scope,
        after: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredExperiment>> {
        let scope = scope.clone();
        self.pool.run(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            let sql = format!("{SELECT} WHERE project = ?1 AND key > ?2 ORDER BY key LIMIT ?3");
            let values = (project, after.0 as i64, limit as i64);
            connection.read_rows_with(&sql, values, |row| read(connection, row))
        })
    }

    /// Running and paused experiments of all projects.
    pub fn experiments_going_on(&self) -> Task<'_, Vec<ExperimentScope>> {
        self.pool.run(list_active)
    }

    /// The status of an experiment, and the variant of a user or conversation.
    pub fn experiment_standing(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        unit_id: &str,
    ) -> Task<'_, Option<StoredStanding>> {
        let (scope, id, unit_id) = (scope.clone(), id.clone(), unit_id.to_owned());
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(None) };
            let found: Option<(Key, u8, String, u32)> = connection.find_row(
                "SELECT key, unit, status,
                     (SELECT COUNT(*) FROM experiment_moves WHERE experiment = key)
                 FROM experiments WHERE project = ?1 AND id = ?2",
                (project, id.as_str()),
            )?;
            let Some((experiment, kind, status, moves)) = found else { return Ok(None) };
            let is_user = kind == ExperimentUnit::User.code();
            let table = if is_user { Table::Users } else { Table::Conversations };
            let exposure = match find_key(connection, table, project, &unit_id)? {
                Some(unit) => exposure(connection, experiment, unit)?,
                None => None,
            };
            let position = Position(experiment as u64);
            Ok(Some(StoredStanding { position, status, moves, exposure }))
        })
    }

    /// The sums of an experiment by variant and number of share changes, as of one moment.
    pub fn experiment_sums(&self, scope: &Scope, id: &ExperimentId) -> Task<'_, Vec<StoredSums>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run(move |connection| {
            let Some(key) = find_experiment(connection, &scope, &id)? else {
                return Ok(Vec::new());
            };
            connection.read_rows_with(
                "SELECT variant, moves, exposed, sums FROM experiment_sums
                 WHERE experiment = ?1 ORDER BY variant, moves",
                [key],
                |row| read_stored_sums(row, key),
            )
        })
    }

    /// The sums at the end of each day with a change, in order, with the day since 1970.
    pub fn experiment_days(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        limit: usize,
    ) -> Task<'_, Vec<(i64, StoredSums)>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run(move |connection| {
            let Some(key) = find_experiment(connection, &scope, &id)? else {
                return Ok(Vec::new());
            };
            connection.read_rows_with(
                "SELECT variant, moves, exposed, sums, day FROM experiment_days
                 WHERE experiment = ?1 ORDER BY day, variant, moves LIMIT ?2",
                (key, limit as i64),
                |row| Ok((row.get(4)?, read_stored_sums(row, key)?)),
            )
        })
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
        self.pool.run(move |connection| {
            let Some(key) = find_experiment(connection, &scope, &id)? else {
                return Ok(Vec::new());
            };
            let after = after.unwrap_or(UnitCursor { unit: i64::MIN, variant: 0 });
            let sql = format!(
                "SELECT unit, variant, moves, first, {} FROM experiment_units
                 WHERE experiment = ?1 AND (unit, variant) > (?2, ?3)
                 ORDER BY unit, variant LIMIT ?4",
                UnitSums::COLUMNS.join(", ")
            );
            connection.read_rows_with(&sql, (key, after.unit, after.variant, limit as i64), |row| {
                let (unit, variant, moves, first) = row.read()?;
                Ok(StoredUnit {
                    mark: UnitCursor { unit, variant },
                    variant: u32::try_from(variant).ok(),
                    moves,
                    first,
                    sums: read_sums(row, 4)?,
                })
            })
        })
    }
}

const SELECT: &str = "SELECT key, id, definition, status, created, changed FROM experiments";

fn read(connection: &Connection, row: &Row<'_>) -> Result<StoredExperiment, StoreError> {
    let (key, id, definition, status): (Key, String, String, String) = row.read()?;
    let unreadable = || StoreError::Corrupt(format!("invalid experiment with key {key}"));
    Ok(StoredExperiment {
        id: ExperimentId::new(id).map_err(|_| unreadable())?,
        position: Position(key as u64),
        definition: serde_json::from_str(&definition).map_err(|_| unreadable())?,
        status,
        created: Timestamp::from_micros(row.get(4)?),
        changed: Timestamp::from_micros(row.get(5)?),
        moves: moves(connection, key)?,
    })
}

fn moves(connection: &Connection, experiment: Key) -> Result<Vec<StoredMove>, StoreError> {
    connection.read_rows_with(
        "SELECT number, ts, shares, step FROM experiment_moves
         WHERE experiment = ?1 ORDER BY number",
        [experiment],
        |row| {
            let (number, ts, shares, step): (u32, i64, String, String) = row.read()?;
            let unreadable =
                |_| StoreError::Corrupt(format!("invalid share change of experiment {experiment}"));
            let step: Map<String, Value> = serde_json::from_str(&step).map_err(unreadable)?;
            Ok(StoredMove {
                number,
                ts: Timestamp::from_micros(ts),
                shares: serde_json::from_str(&shares).map_err(unreadable)?,
                units: step.get("evidence").and_then(|evidence| evidence["units"].as_f64()),
                step,
            })
        },
    )
}

fn list_active(connection: &Connection) -> Result<Vec<ExperimentScope>, StoreError> {
    let sql =
        "SELECT project, id FROM experiments WHERE status IN ('RUNNING', 'PAUSED') ORDER BY key";
    let mut found = Vec::new();
    for (project, id) in connection.read_rows::<(Key, String)>(sql, ())? {
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

fn find_experiment(
    connection: &Connection,
    scope: &Scope,
    id: &ExperimentId,
) -> sql::Result<Option<Key>> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let select = "SELECT key FROM experiments WHERE project = ?1 AND id = ?2";
    connection.find_row(select, (project, id.as_str()))
}

fn exposure(
    connection: &Connection,
    experiment: Key,
    unit: Key,
) -> sql::Result<Option<StoredExposure>> {
    let served: Vec<(u32, bool, bool)> = connection.read_rows(
        "SELECT variant, first, current FROM experiment_units
         WHERE experiment = ?1 AND unit = ?2 AND variant >= 0",
        (experiment, unit),
    )?;
    let first = served.iter().find(|(_, first, _)| *first);
    let current = served.iter().find(|(.., current)| *current);
    Ok(first
        .zip(current)
        .map(|(first, current)| StoredExposure { first: first.0, current: current.0 }))
}

fn read_stored_sums(row: &Row<'_>, experiment: Key) -> Result<StoredSums, StoreError> {
    let unreadable = || StoreError::Corrupt(format!("invalid sums of experiment {experiment}"));
    let (variant, moves, exposed, packed): (u32, u32, i64, Vec<u8>) = row.read()?;
    let exposed = u64::try_from(exposed).map_err(|_| unreadable())?;
    let moments = unpack(&packed).ok_or_else(unreadable)?;
    Ok(StoredSums { variant, moves, exposed, moments })
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
        assert_eq!(list_active(&connection).unwrap(), [], "there is no such project");
        connection.execute_batch("DROP TABLE projects").unwrap();
        assert!(list_active(&connection).is_err());
    }
}
