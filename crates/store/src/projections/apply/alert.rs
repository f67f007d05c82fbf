//! Figures that are not where they should be.

use sql::Connection;

use super::Subject;

/// A figure is missed, or no longer.
pub(crate) fn note(
    connection: &Connection,
    subject: &Subject,
    metric: &str,
    raised: bool,
) -> sql::Result<()> {
    let sql = match raised {
        true => "INSERT INTO alerts (raised, project, metric) VALUES (?3, ?1, ?2)",
        false => {
            "UPDATE alerts SET cleared = ?3
             WHERE project = ?1 AND metric = ?2 AND cleared IS NULL"
        }
    };
    connection.prepare_cached(sql)?.run((subject.project, metric, subject.row_position()))
}
