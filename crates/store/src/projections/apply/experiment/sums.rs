//! The totals over all units, updated by the exact difference of each unit's row. Whole numbers
//! make the result independent of the order of changes.

use model::{Measure, Moments};
use sql::{Connection, OptionalExtension, Row};

use super::before::BEFORE;
use super::measures::{self, Counted};
use super::{SELECT_SUMS, Subject, UnitKey, days, read_sums};
use crate::projections::counters::UnitSums;
use crate::projections::moments::{pack, unpack};
use crate::row_keys::Key;

/// The row of totals: a variant and the number of moves before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) experiment: Key,
    pub(crate) variant: i64,
    pub(crate) moves: u32,
}

/// Counts a unit that is served a variant for the first time.
pub(crate) fn arrived(
    connection: &Connection,
    subject: &Subject,
    (experiment, _, variant): UnitKey,
    moves: u32,
    is_first: bool,
) -> sql::Result<()> {
    let known = connection
        .prepare_cached(
            "UPDATE experiment_sums SET exposed = exposed + ?4
             WHERE experiment = ?1 AND variant = ?2 AND moves = ?3",
        )?
        .execute((experiment, variant, moves, is_first))?;
    let place = Place { experiment, variant, moves };
    if known > 0 {
        return days::keep(connection, subject, place);
    }
    let nothing = vec![Moments::default(); measures::read_measures(connection, experiment)?.len()];
    connection
        .prepare_cached(
            "INSERT INTO experiment_sums (experiment, variant, moves, exposed, sums)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .run((experiment, variant, moves, is_first, pack(&nothing)))?;
    days::keep(connection, subject, place)
}

/// Applies a change of a unit's sums under a variant.
pub(crate) fn grows(
    connection: &Connection,
    subject: &Subject,
    key: UnitKey,
    more: &UnitSums,
) -> sql::Result<()> {
    let (experiment, _, variant) = key;
    let measures = measures::read_measures(connection, experiment)?;
    let concerns = |measure: &Measure| more.measured(measure.metric) != (0.0, 0.0);
    if !measures.iter().any(concerns) {
        return Ok(());
    }
    let Some((moves, is_first, sums)) = read_sum_row(connection, key)? else { return Ok(()) };
    let before = if is_first { read_before(connection, key)? } else { None };
    let counted =
        |sums: &UnitSums| Counted { is_first, sums, before: before.as_ref() }.moments(&measures);
    let (old, new) = (counted(&sums), counted(&sums.plus(more)));
    if old == new {
        return Ok(());
    }
    let place = Place { experiment, variant, moves };
    change(connection, place, &old, &new)?;
    days::keep(connection, subject, place)
}

fn read_sum_row(
    connection: &Connection,
    (experiment, unit, variant): UnitKey,
) -> sql::Result<Option<(u32, bool, UnitSums)>> {
    connection
        .prepare_cached(&SELECT_SUMS)?
        .query_row((experiment, unit, variant), |row: &Row<'_>| {
            Ok((row.get(0)?, row.get(1)?, read_sums(row, 2)?))
        })
        .optional()
}

fn read_before(
    connection: &Connection,
    (experiment, unit, _): UnitKey,
) -> sql::Result<Option<UnitSums>> {
    Ok(read_sum_row(connection, (experiment, unit, BEFORE))?.map(|(_, _, sums)| sums))
}

fn change(
    connection: &Connection,
    Place { experiment, variant, moves }: Place,
    old: &[Moments],
    new: &[Moments],
) -> sql::Result<()> {
    let kept: Option<Vec<u8>> = connection
        .prepare_cached(
            "SELECT sums FROM experiment_sums WHERE experiment = ?1 AND variant = ?2 AND moves = ?3",
        )?
        .query_row((experiment, variant, moves), |row| row.get(0))
        .optional()?;
    // Unreadable totals are left to a rebuild; the commit must not fail.
    let kept = kept.and_then(|bytes| unpack(&bytes)).filter(|kept| kept.len() == old.len());
    let Some(mut kept) = kept else { return Ok(()) };
    for ((kept, old), new) in kept.iter_mut().zip(old).zip(new) {
        *kept = kept.minus(old).plus(new);
    }
    connection
        .prepare_cached(
            "UPDATE experiment_sums SET sums = ?4
             WHERE experiment = ?1 AND variant = ?2 AND moves = ?3",
        )?
        .run((experiment, variant, moves, pack(&kept)))
}
