//! Labels for the calibration of the verdict detector.

use model::{Position, Reaction, Scope, UnitInterval, VerdictStatus};
use serde_json::{Map, Value};
use sql::Connection;

use crate::error::{StoreError, Task};
use crate::row_keys::{Key, find_project, read_project_scope};
use crate::store::Store;

/// The uncalibrated confidence of a verdict, and whether people agreed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    pub confidence: UnitInterval,
    pub right: bool,
}

/// A project's calibration in effect.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCalibration {
    pub scope: Scope,
    pub position: Position,
    pub settings: Map<String, Value>,
}

impl Store {
    /// The newest labels of a project, oldest first.
    pub fn labels(&self, scope: &Scope, limit: usize) -> Task<'_, Vec<Label>> {
        let scope = scope.clone();
        self.pool.run(move |connection| self::labels(connection, &scope, limit))
    }

    pub fn calibrations(&self) -> Task<'_, Vec<StoredCalibration>> {
        self.pool.run(self::calibrations)
    }
}

/// Reviews, and users' reactions on turns without a review. Neutral reactions are skipped. Users
/// are origin 1, as in the partial index, which returns the newest first.
const SELECT: &str = "
    SELECT at, raw_confidence, said, found FROM (
        SELECT * FROM (
            SELECT i.reviewed AS at, v.raw_confidence, i.review AS said, v.status AS found
            FROM turn_index i JOIN verdicts v ON v.position = i.verdict
            WHERE i.project = ?1 AND i.reviewed IS NOT NULL AND v.detected_in IS NOT NULL
                AND v.status <> ?2
            ORDER BY i.reviewed DESC LIMIT ?7) reviews
        UNION ALL
        SELECT * FROM (
            SELECT r.position, v.raw_confidence,
                CASE r.reaction WHEN ?3 THEN CAST(?4 AS BIGINT) ELSE ?5 END, v.status
            FROM reactions r INDEXED BY reactions_of_users JOIN turn_index i ON i.turn = r.turn
            JOIN verdicts v ON v.position = i.verdict
            WHERE r.project = ?1 AND r.origin = 1 AND r.reaction <> ?6 AND i.reviewed IS NULL
                AND v.detected_in IS NOT NULL AND v.status <> ?2
            ORDER BY r.position DESC LIMIT ?7) reactions) labels
    ORDER BY at DESC LIMIT ?7";

pub(crate) fn labels(
    connection: &Connection,
    scope: &Scope,
    limit: usize,
) -> Result<Vec<Label>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let values = (
        project,
        VerdictStatus::Neutral.code(),
        Reaction::Ok.code(),
        VerdictStatus::Accepted.code(),
        VerdictStatus::Rejected.code(),
        Reaction::Neutral.code(),
        limit as i64,
    );
    let mut select = connection.prepare_cached(SELECT)?;
    let mut rows = select.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let (confidence, said, status): (f64, u8, u8) = (row.get(1)?, row.get(2)?, row.get(3)?);
        if let Some(confidence) = UnitInterval::new(confidence) {
            found.push(Label { confidence, right: said == status });
        }
    }
    found.reverse();
    Ok(found)
}

pub(crate) fn calibrations(connection: &Connection) -> Result<Vec<StoredCalibration>, StoreError> {
    let mut select =
        connection.prepare_cached("SELECT project, position, settings FROM calibrations")?;
    let mut rows = select.query(())?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let (project, position, settings): (Key, i64, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let unreadable = |_| StoreError::Corrupt("invalid calibration".into());
        found.push(StoredCalibration {
            scope: read_project_scope(connection, project)?,
            position: Position(position as u64),
            settings: serde_json::from_str(&settings).map_err(unreadable)?,
        });
    }
    Ok(found)
}
