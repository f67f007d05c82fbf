//! Rules and profiles. The newest event about each applies.

use serde_json::{Map, Value};
use sql::Connection;

use super::Subject;

pub(crate) fn set_privacy(
    connection: &Connection,
    subject: &Subject,
    settings: &Map<String, Value>,
) -> sql::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO privacy (tenant, settings)
             SELECT tenant, ?2 FROM projects WHERE key = ?1
             ON CONFLICT (tenant) DO UPDATE SET settings = excluded.settings",
        )?
        .run((subject.project, Value::Object(settings.clone()).to_string()))
}

/// A tenant's targets, in effect since this position.
pub(crate) fn set_targets(
    connection: &Connection,
    subject: &Subject,
    settings: &Map<String, Value>,
) -> sql::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO targets (tenant, position, settings)
             SELECT tenant, CAST(?2 AS BIGINT), ?3 FROM projects WHERE key = ?1
             ON CONFLICT (tenant) DO UPDATE SET position = excluded.position, settings = excluded.settings",
        )?
        .run((subject.project, subject.row_position(), Value::Object(settings.clone()).to_string()))
}

/// A project's calibration of confidences.
pub(crate) fn calibrate(
    connection: &Connection,
    subject: &Subject,
    settings: &Map<String, Value>,
) -> sql::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO calibrations (project, position, settings) VALUES (?1, ?2, ?3)
             ON CONFLICT (project) DO UPDATE SET position = excluded.position, settings = excluded.settings",
        )?
        .run((subject.project, subject.row_position(), Value::Object(settings.clone()).to_string()))
}

pub(crate) fn set_profile(
    connection: &Connection,
    subject: &Subject,
    attributes: &Map<String, Value>,
) -> sql::Result<()> {
    let Some(user) = subject.user else { return Ok(()) };
    connection
        .prepare_cached(
            "INSERT INTO profiles (user, attributes) VALUES (?1, ?2)
             ON CONFLICT (user) DO UPDATE SET attributes = excluded.attributes",
        )?
        .run((user, Value::Object(attributes.clone()).to_string()))
}

/// A router's definition, in effect since this position.
pub(crate) fn set_router(
    connection: &Connection,
    subject: &Subject,
    name: &str,
    definition: &Map<String, Value>,
) -> sql::Result<()> {
    let definition = Value::Object(definition.clone()).to_string();
    connection
        .prepare_cached(
            "INSERT INTO routers (project, name, position, definition) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (project, name) DO UPDATE SET definition = excluded.definition",
        )?
        .run((subject.project, name, subject.row_position(), definition))
}
