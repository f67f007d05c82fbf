//! Labels for the calibration of the verdict detector.

use model::{Calibration, Position, Reaction, Scope, UnitInterval, VerdictStatus};

use crate::error::{StoreError, Task};
use crate::row_keys::{Key, find_project, read_project_scope};
use crate::store::Store;

/// The uncalibrated confidence of a verdict, and whether people agreed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    pub confidence: UnitInterval,
    pub right: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredCalibration {
    pub scope: Scope,
    pub position: Position,
    pub calibration: Calibration,
}

impl Store {
    /// The newest labels of a project, oldest first.
    pub fn labels(&self, scope: &Scope, limit: usize) -> Task<'_, Vec<Label>> {
        let scope = scope.clone();
        self.pool.run(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            let values = (
                project,
                VerdictStatus::Neutral.code(),
                Reaction::Ok.code(),
                VerdictStatus::Accepted.code(),
                VerdictStatus::Rejected.code(),
                Reaction::Neutral.code(),
                limit as i64,
            );
            let found: Vec<(f64, u8, u8)> = connection.read_rows(SELECT, values)?;
            let label = |(confidence, said, status)| {
                let confidence = UnitInterval::new(confidence)?;
                Some(Label { confidence, right: said == status })
            };
            Ok(found.into_iter().rev().filter_map(label).collect())
        })
    }

    pub fn calibrations(&self) -> Task<'_, Vec<StoredCalibration>> {
        self.pool.run(|connection| {
            connection.read_rows_with(
                "SELECT project, position, settings FROM calibrations",
                (),
                |row| {
                    let (project, position, settings): (Key, i64, String) = row.read()?;
                    let unreadable = |_| StoreError::Corrupt("invalid calibration".into());
                    Ok(StoredCalibration {
                        scope: read_project_scope(connection, project)?,
                        position: Position(position as u64),
                        calibration: serde_json::from_str(&settings).map_err(unreadable)?,
                    })
                },
            )
        })
    }
}

/// Reviews, and users' reactions on turns without a review. Neutral reactions are skipped. Users
/// are origin 1, as in the partial index, which returns the newest first.
const SELECT: &str = "
    SELECT raw_confidence, said, found FROM (
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
