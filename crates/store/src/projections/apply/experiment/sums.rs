//! The totals over all units, updated by the exact difference of each unit's row. Whole numbers
//! make the result independent of the order of changes.
//!
//! The totals at the end of each day are kept for the confidence sequence.

use model::{Measure, Moments};
use sql::{Connection, Row};

use super::super::activity::DAY_MICROS;
use super::measures::{self, Counted};
use super::{BEFORE, SELECT_SUMS, Subject, UnitKey, read_sums};
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
pub(crate) fn count_exposed_unit(
    connection: &Connection,
    subject: &Subject,
    (experiment, _, variant): UnitKey,
    moves: u32,
    is_first: bool,
) -> sql::Result<()> {
    let known = connection.execute_cached(
        "UPDATE experiment_sums SET exposed = exposed + ?4
         WHERE experiment = ?1 AND variant = ?2 AND moves = ?3",
        (experiment, variant, moves, is_first),
    )?;
    let place = Place { experiment, variant, moves };
    if known > 0 {
        return store_day_totals(connection, subject, place);
    }
    let nothing = vec![Moments::default(); measures::read_measures(connection, experiment)?.len()];
    connection.run(
        "INSERT INTO experiment_sums (experiment, variant, moves, exposed, sums)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        (experiment, variant, moves, is_first, pack(&nothing)),
    )?;
    store_day_totals(connection, subject, place)
}

/// Applies a change of a unit's sums under a variant.
pub(crate) fn add_unit_change(
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
    replace_moments(connection, place, &old, &new)?;
    store_day_totals(connection, subject, place)
}

fn read_sum_row(
    connection: &Connection,
    (experiment, unit, variant): UnitKey,
) -> sql::Result<Option<(u32, bool, UnitSums)>> {
    connection.find_row_with(&SELECT_SUMS, (experiment, unit, variant), |row: &Row<'_>| {
        Ok((row.get(0)?, row.get(1)?, read_sums(row, 2)?))
    })
}

fn read_before(
    connection: &Connection,
    (experiment, unit, _): UnitKey,
) -> sql::Result<Option<UnitSums>> {
    Ok(read_sum_row(connection, (experiment, unit, BEFORE))?.map(|(_, _, sums)| sums))
}

fn replace_moments(
    connection: &Connection,
    Place { experiment, variant, moves }: Place,
    old: &[Moments],
    new: &[Moments],
) -> sql::Result<()> {
    let kept: Option<Vec<u8>> = connection.find_row(
        "SELECT sums FROM experiment_sums WHERE experiment = ?1 AND variant = ?2 AND moves = ?3",
        (experiment, variant, moves),
    )?;
    // Unreadable totals are left to a rebuild; the commit must not fail.
    let kept = kept.and_then(|bytes| unpack(&bytes)).filter(|kept| kept.len() == old.len());
    let Some(mut kept) = kept else { return Ok(()) };
    for ((kept, old), new) in kept.iter_mut().zip(old).zip(new) {
        *kept = kept.minus(old).plus(new);
    }
    connection.run(
        "UPDATE experiment_sums SET sums = ?4
         WHERE experiment = ?1 AND variant = ?2 AND moves = ?3",
        (experiment, variant, moves, pack(&kept)),
    )
}

/// Stores the current sums under the day of arrival. The last write of a day wins.
///
/// An event received before midnight may be stored after one received later. The sums then include
/// both and belong to the later day.
fn store_day_totals(
    connection: &Connection,
    subject: &Subject,
    Place { experiment, variant, moves }: Place,
) -> sql::Result<()> {
    let day = subject.received_at.as_micros().div_euclid(DAY_MICROS);
    connection.run(
        "INSERT INTO experiment_days (experiment, day, variant, moves, exposed, sums)
         SELECT s.experiment,
             CASE WHEN newest.day > CAST(?4 AS BIGINT) THEN newest.day ELSE CAST(?4 AS BIGINT) END,
             s.variant, s.moves, s.exposed, s.sums
         FROM experiment_sums s
         CROSS JOIN (SELECT max(day) AS day FROM experiment_days WHERE experiment = ?1) newest
         WHERE s.experiment = ?1 AND s.variant = ?2 AND s.moves = ?3
         ON CONFLICT (experiment, day, variant, moves)
         DO UPDATE SET exposed = excluded.exposed, sums = excluded.sums",
        (experiment, variant, moves, day),
    )
}
