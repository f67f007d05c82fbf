//! Settings and profiles. The newest event about each applies.

use model::{Fields, Rule, SettingsChange, record_fields};
use serde_json::Value;
use sql::Connection;

use super::Subject;

pub(super) fn apply(
    connection: &Connection,
    subject: &Subject,
    change: &SettingsChange,
) -> sql::Result<()> {
    let (project, position) = (subject.project, subject.row_position());
    let json = |fields: &Fields| Value::Object(fields.clone()).to_string();
    match change {
        SettingsChange::Privacy(settings) => connection.run(
            "INSERT INTO privacy (tenant, settings)
                 SELECT tenant, ?2 FROM projects WHERE key = ?1
                 ON CONFLICT (tenant) DO UPDATE SET settings = excluded.settings",
            (project, json(settings)),
        ),
        SettingsChange::Targets(settings) => connection.run(
            "INSERT INTO targets (tenant, position, settings)
                 SELECT tenant, CAST(?2 AS BIGINT), ?3 FROM projects WHERE key = ?1
                 ON CONFLICT (tenant) DO UPDATE
                 SET position = excluded.position, settings = excluded.settings",
            (project, position, json(settings)),
        ),
        SettingsChange::Calibration(calibration) => connection.run(
            "INSERT INTO calibrations (project, position, settings) VALUES (?1, ?2, ?3)
                 ON CONFLICT (project) DO UPDATE
                 SET position = excluded.position, settings = excluded.settings",
            (project, position, json(&record_fields(&Rule::Calibration(*calibration)))),
        ),
        SettingsChange::Profile(attributes) => match subject.user {
            None => Ok(()),
            Some(user) => connection.run(
                "INSERT INTO profiles (user, attributes) VALUES (?1, ?2)
                     ON CONFLICT (user) DO UPDATE SET attributes = excluded.attributes",
                (user, json(attributes)),
            ),
        },
        SettingsChange::Router { name, definition } => connection.run(
            "INSERT INTO routers (project, name, position, definition) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (project, name) DO UPDATE SET definition = excluded.definition",
            (project, name.as_str(), position, json(definition)),
        ),
    }
}
