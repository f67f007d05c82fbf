//! Alerts of metrics that miss their target.

use sql::Connection;

use super::Subject;

/// Raises or clears an alert.
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
    connection.run(sql, (subject.project, metric, subject.row_position()))
}
