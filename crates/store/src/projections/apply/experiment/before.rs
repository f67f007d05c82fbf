//! The sums of a unit before its exposure, computed once.

use model::ExperimentUnit;
use sql::Connection;

use super::{Subject, add, sums_from_row};
use crate::projections::counters::UnitSums;
use crate::row_keys::Key;

/// The newest turns before the exposure that count. Enough for a mean, and bounded.
const MAX_TURNS_BEFORE: i64 = 1000;
/// The variant number of the time before exposure.
pub(crate) const BEFORE: i64 = -1;

/// Stores the sums as a row of their own, when there are any.
pub(crate) fn keep(
    connection: &Connection,
    subject: &Subject,
    (experiment, unit): (Key, Key),
    kind: u8,
) -> sql::Result<()> {
    let since = subject.ts.as_micros();
    let sums = look_back(connection, kind, unit, since)?;
    if sums == UnitSums::default() {
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT INTO experiment_units (experiment, unit, variant, kind, moves, since, first, current)
             VALUES (?1, ?2, ?3, ?4, 0, ?5, 0, 0)",
        )?
        .run((experiment, unit, BEFORE, kind, since))?;
    add(connection, subject, (experiment, unit, BEFORE), &sums)
}

fn look_back(connection: &Connection, kind: u8, unit: Key, until: i64) -> sql::Result<UnitSums> {
    let sql = if kind == ExperimentUnit::User.code() {
        "SELECT f.*, i.quality_score FROM turn_facts f LEFT JOIN turn_index i ON i.turn = f.turn
         WHERE f.user = ?1 AND f.ts < ?2 AND f.answered = 1
         ORDER BY f.ts DESC, f.turn DESC LIMIT ?3"
    } else {
        "SELECT f.*, i.quality_score FROM turns t JOIN turn_facts f ON f.turn = t.key
             LEFT JOIN turn_index i ON i.turn = f.turn
         WHERE t.conversation = ?1 AND t.ts < ?2 AND f.answered = 1
         ORDER BY t.ts DESC, t.key DESC LIMIT ?3"
    };
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query((unit, until, MAX_TURNS_BEFORE))?;
    let mut sums = UnitSums::default();
    while let Some(row) = &rows.next()? {
        sums = sums.plus(&sums_from_row(row)?);
    }
    Ok(sums)
}
