//! Sums per hour and per day, by model and prompt. Days make long periods quick to read.

mod statements;

use sql::{Connection, RowBatch, ToSql};

use crate::projections::counters::QualityCounts;
use crate::row_keys::Key;

use statements::{BY_DAY, BY_HOUR};

pub(crate) const HOUR_MICROS: i64 = 3_600_000_000;
pub(crate) const DAY_HOURS: i64 = 24;

/// The row a turn counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) hour: i64,
    pub(crate) model: &'a str,
    pub(crate) prompt: &'a str,
}

pub(crate) fn hour_number(micros: i64) -> i64 {
    micros.div_euclid(HOUR_MICROS)
}

fn day_number(hour: i64) -> i64 {
    hour.div_euclid(DAY_HOURS)
}

/// Adds to the sums of a row and deletes an all-zero row, so the result does not depend on the
/// steps.
pub(crate) fn add(
    connection: &Connection,
    project: Key,
    place: Place<'_>,
    more: &QualityCounts,
) -> sql::Result<()> {
    let values = more.values();
    if values.iter().all(|value| *value == 0) {
        return Ok(());
    }
    let takes_away = values.iter().any(|value| *value < 0);
    for (kept, time) in [(&*BY_HOUR, place.hour), (&*BY_DAY, day_number(place.hour))] {
        let mut parameters: Vec<&dyn ToSql> = vec![&project, &time, &place.model, &place.prompt];
        parameters.extend(values.iter().map(|value| value as &dyn ToSql));
        connection
            .prepare_cached(&kept.add)?
            .add(RowBatch::Each(&kept.add_many), &parameters[..])?;
        if takes_away {
            let clean = RowBatch::Each(&kept.clean_many);
            connection.prepare_cached(&kept.clean)?.add(clean, &parameters[..4])?;
        }
    }
    Ok(())
}

/// Adds or subtracts one answer's latency.
pub(crate) fn wait(
    connection: &Connection,
    project: Key,
    place: Place<'_>,
    step: u32,
    by: i64,
) -> sql::Result<()> {
    for (kept, time) in [(&*BY_HOUR, place.hour), (&*BY_DAY, day_number(place.hour))] {
        let row = (project, time, place.model, place.prompt, step);
        connection
            .prepare_cached(&kept.wait)?
            .add(RowBatch::Each(&kept.wait_many), (row.0, row.1, row.2, row.3, row.4, by))?;
        if by < 0 {
            let clean = RowBatch::Each(&kept.clean_wait_many);
            connection.prepare_cached(&kept.clean_wait)?.add(clean, row)?;
        }
    }
    Ok(())
}
