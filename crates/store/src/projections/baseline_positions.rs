//! The position of each project's baseline, and the lock that keeps it there.

use std::collections::HashMap;

use model::Position;
use sql::Connection;

use crate::row_keys::Key;

/// The position of each project's baseline. A project that is missing has none.
///
/// Read it in one snapshot with the rows of the baseline and with the events after it.
pub(crate) fn positions(connection: &Connection) -> sql::Result<HashMap<Key, Position>> {
    let rows: Vec<(Key, i64)> =
        connection.read_rows("SELECT project, position FROM baselines WHERE position > 0", ())?;
    Ok(rows.into_iter().map(|(key, position)| (key, Position(position as u64))).collect())
}

/// The condition that selects the rows of some projects in a projection or in its baseline.
/// `projects` is a list of keys.
///
/// Rules of a tenant belong to its default project, which stores them.
pub(crate) fn project_rows(table: &str, projects: &str) -> String {
    let keys = |table: &str| format!("SELECT key FROM {table} WHERE project IN ({projects})");
    match table {
        "privacy" | "targets" => format!(
            "tenant IN (SELECT tenant FROM projects
                 WHERE key IN ({projects}) AND project = 'default')"
        ),
        "verdicts" => format!("coalesce(turn, detected_in) IN ({})", keys("turns")),
        "turn_vectors" => format!("turn IN ({})", keys("turns")),
        "profiles" => format!("user IN ({})", keys("users")),
        "experiment_moves"
        | "experiment_units"
        | "experiment_turns"
        | "experiment_measures"
        | "experiment_sums"
        | "experiment_days" => format!(
            "experiment IN ({} UNION {})",
            keys("experiments"),
            keys("baseline_experiments")
        ),
        _ => format!("project IN ({projects})"),
    }
}

/// Creates or locks the project's row. Until the transaction ends, its baseline does not move, none
/// of its events is dropped, and no erasure or removal of its tenant runs.
pub(crate) fn lock_project(connection: &Connection, project: Key) -> sql::Result<()> {
    connection.run(
        "INSERT INTO baselines (project, position) VALUES (?1, 0)
         ON CONFLICT (project) DO UPDATE SET position = baselines.position",
        [project],
    )
}

/// Locks the project and reads the position of its baseline. `None` when the project is gone.
pub(crate) fn lock_position(
    connection: &Connection,
    project: Key,
) -> sql::Result<Option<Position>> {
    lock_project(connection, project)?;
    let position: Option<i64> = connection.find_row(
        "SELECT b.position FROM baselines b JOIN projects p ON p.key = b.project
         WHERE b.project = ?1",
        [project],
    )?;
    Ok(position.map(|position| Position(position as u64)))
}
