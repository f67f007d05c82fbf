//! What all units added up to at the end of each day: how sure one was, day by day, and not only now.

use super::super::activity::DAY_MICROS;
use super::Subject;
use super::sums::Place;
use crate::sql::{self, Connection};

/// Notes the sums of a place as they are now, on the day on which we heard of it. The last of a day stays.
pub(super) fn keep(
    connection: &Connection,
    subject: &Subject,
    Place { experiment, variant, moves }: Place,
) -> sql::Result<()> {
    let day = subject.received_at.as_micros().div_euclid(DAY_MICROS);
    connection
        .prepare_cached(
            "INSERT INTO experiment_days (experiment, day, variant, moves, exposed, sums)
             SELECT experiment, CAST(?4 AS BIGINT), variant, moves, exposed, sums FROM experiment_sums
             WHERE experiment = ?1 AND variant = ?2 AND moves = ?3
             ON CONFLICT (experiment, day, variant, moves)
             DO UPDATE SET exposed = excluded.exposed, sums = excluded.sums",
        )?
        .run((experiment, variant, moves, day))
}
