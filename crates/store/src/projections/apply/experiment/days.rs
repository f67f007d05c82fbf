//! The experiment's sums at the end of each day, for the confidence sequence.

use sql::Connection;

use super::super::activity::DAY_MICROS;
use super::Subject;
use super::sums::Place;

/// Stores the current sums under the day of arrival. The last write of a day wins.
///
/// An event received before midnight may be stored after one received later. The sums then include
/// both and belong to the later day.
pub(crate) fn keep(
    connection: &Connection,
    subject: &Subject,
    Place { experiment, variant, moves }: Place,
) -> sql::Result<()> {
    let day = subject.received_at.as_micros().div_euclid(DAY_MICROS);
    connection
        .prepare_cached(
            "INSERT INTO experiment_days (experiment, day, variant, moves, exposed, sums)
             SELECT s.experiment,
                 CASE WHEN newest.day > CAST(?4 AS BIGINT) THEN newest.day ELSE CAST(?4 AS BIGINT) END,
                 s.variant, s.moves, s.exposed, s.sums
             FROM experiment_sums s
             CROSS JOIN (SELECT max(day) AS day FROM experiment_days WHERE experiment = ?1) newest
             WHERE s.experiment = ?1 AND s.variant = ?2 AND s.moves = ?3
             ON CONFLICT (experiment, day, variant, moves)
             DO UPDATE SET exposed = excluded.exposed, sums = excluded.sums",
        )?
        .run((experiment, variant, moves, day))
}
