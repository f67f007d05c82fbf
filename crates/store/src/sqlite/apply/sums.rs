//! Sums by hour, model and prompt.

use super::super::keys::Key;
use crate::read::quality::QualityCounts;
use crate::sql::{self, Connection, ToSql};

pub(in super::super) const HOUR_MICROS: i64 = 3_600_000_000;

/// Where something counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Place<'a> {
    pub(in super::super) hour: i64,
    pub(super) model: &'a str,
    pub(super) prompt: &'a str,
}

/// The hour of a moment.
pub(in super::super) fn hour_of(micros: i64) -> i64 {
    micros.div_euclid(HOUR_MICROS)
}

/// Adds to the sums of a place. A row of nothing goes, so that it does not matter in which steps
/// the sums came about.
pub(super) fn add(
    connection: &Connection,
    project: Key,
    place: Place<'_>,
    more: &QualityCounts,
) -> sql::Result<()> {
    let values = more.values();
    if values.iter().all(|value| *value == 0) {
        return Ok(());
    }
    let mut parameters: Vec<&dyn ToSql> = vec![&project, &place.hour, &place.model, &place.prompt];
    parameters.extend(values.iter().map(|value| value as &dyn ToSql));
    connection.prepare_cached(&SQL.0)?.run(&parameters[..])?;
    if values.iter().any(|value| *value < 0) {
        connection.prepare_cached(&SQL.1)?.run(&parameters[..4])?;
    }
    Ok(())
}

/// The statements, made of the list of counters.
static SQL: std::sync::LazyLock<(String, String)> = std::sync::LazyLock::new(|| {
    let columns = QualityCounts::COLUMNS;
    let names = columns.join(", ");
    let places: Vec<String> = (0..columns.len()).map(|n| format!("?{}", n + 5)).collect();
    let sums: Vec<String> =
        columns.iter().map(|name| format!("{name} = quality.{name} + excluded.{name}")).collect();
    let zeros: Vec<String> = columns.iter().map(|name| format!("{name} = 0")).collect();
    let row = "project = ?1 AND hour = ?2 AND model = ?3 AND prompt = ?4";
    (
        format!(
            "INSERT INTO quality (project, hour, model, prompt, {names})
             VALUES (?1, ?2, ?3, ?4, {}) ON CONFLICT (project, hour, model, prompt) DO UPDATE SET {}",
            places.join(", "),
            sums.join(", ")
        ),
        format!("DELETE FROM quality WHERE {row} AND {}", zeros.join(" AND ")),
    )
});

/// One answer more or less that took so long.
pub(super) fn wait(
    connection: &Connection,
    project: Key,
    place: Place<'_>,
    step: u32,
    by: i64,
) -> sql::Result<()> {
    let row = (project, place.hour, place.model, place.prompt, step);
    connection
        .prepare_cached(
            "INSERT INTO waits (project, hour, model, prompt, step, count) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (project, hour, model, prompt, step)
                 DO UPDATE SET count = waits.count + excluded.count",
        )?
        .run((row.0, row.1, row.2, row.3, row.4, by))?;
    if by < 0 {
        connection
            .prepare_cached(
                "DELETE FROM waits WHERE project = ?1 AND hour = ?2 AND model = ?3 AND prompt = ?4
                     AND step = ?5 AND count = 0",
            )?
            .run(row)?;
    }
    Ok(())
}
