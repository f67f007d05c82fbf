//! The baseline: a second set of projection tables, which follows the log at a distance.
//!
//! Before an event is dropped, it is applied to the tables `baseline_*` by the code that applied it
//! to the projections. A rebuild starts from the baseline of each project and replays the project's
//! later events. So the baseline of a project at position P is what its events up to P make.
//!
//! An erasure changes the baseline in its own transaction. A step that moves the baseline excludes
//! erasures and the removal of the tenant by the lock on the project's row in `baselines`.

use std::time::Duration;

use model::{Change, Event, Position};
use sql::{Connection, TablePrefix};

use crate::error::StoreError;
use crate::event_rows;
use crate::metrics::Stopwatch;
use crate::projections::PROJECTIONS;
use crate::projections::apply::{Subject, apply};
use crate::projections::baseline_positions::lock_position;
use crate::row_keys::Key;

/// Other writers wait for a step on SQLite. On Postgres only erasures wait.
pub(crate) const STEP: Duration = Duration::from_millis(4);
/// Events read for a step.
const STEP_EVENTS: usize = 64;

/// The changes of an event.
pub type ChangesOf = fn(&Event) -> Vec<Change>;

static BASELINE: TablePrefix = TablePrefix {
    prefix: "baseline_",
    has_counterpart: |table| PROJECTIONS.iter().any(|(name, _)| *name == table),
};

/// Applies the project's next events to the baseline, up to a position. Returns true when the
/// baseline has reached it.
pub(crate) fn advance(
    connection: &mut Connection,
    project: Key,
    upto: Position,
    changes_of: ChangesOf,
) -> Result<bool, StoreError> {
    let watch = Stopwatch::start();
    let transaction = connection.transaction_beside_the_log()?;
    let Some(from) = lock_position(&transaction, project)? else { return Ok(true) };
    if from >= upto {
        return Ok(true);
    }
    let page =
        event_rows::read_project_with_keys(&transaction, project, (from, upto), STEP_EVENTS)?;
    // Without an event up to there, the baseline is there.
    let mut reached = if page.is_empty() { upto } else { from };
    for (stored, keys) in page {
        let (subject, event) = Subject::from_stored(stored, keys);
        adopt_turn(&transaction, subject.turn)?;
        for change in changes_of(&event) {
            BASELINE.apply(|| apply(&transaction, &subject, &change))?;
        }
        reached = subject.position;
        if watch.elapsed() >= STEP {
            break;
        }
    }
    transaction.run(
        "UPDATE baselines SET position = ?2 WHERE project = ?1",
        (project, reached.0 as i64),
    )?;
    transaction.commit()?;
    Ok(reached == upto)
}

/// Gives the turn a row in the baseline. Changes update the rows of turns and do not create them.
fn adopt_turn(connection: &Connection, turn: Option<Key>) -> sql::Result<()> {
    let Some(turn) = turn else { return Ok(()) };
    connection.run(
        "INSERT INTO baseline_turns (key, project, id) SELECT key, project, id FROM turns
         WHERE key = ?1 ON CONFLICT (key) DO NOTHING",
        [turn],
    )
}
