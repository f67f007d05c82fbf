//! Decisions and their outcomes, in any order of arrival.

use model::{DecisionChange, DecisionId};
use sql::Connection;

use super::Subject;
use super::sums::{self, Place};
use crate::projections::counters::QualityCounts;
use crate::row_keys::{Key, PackedId};

pub(super) fn apply(
    connection: &Connection,
    subject: &Subject,
    change: &DecisionChange,
) -> sql::Result<()> {
    match change {
        DecisionChange::Make { id, is_sql: true, executed } => {
            let hour = sums::hour_number(subject.ts.as_micros());
            decide(connection, subject, id, (Some(hour), *executed))
        }
        DecisionChange::Make { id, is_sql: false, .. } => {
            decide(connection, subject, id, (None, None))
        }
        DecisionChange::Settle { id, executed } => settle(connection, subject, id, *executed),
    }
}

/// Stores the position of the decision, and of generated SQL the hour and the outcome.
fn decide(
    connection: &Connection,
    subject: &Subject,
    id: &DecisionId,
    (sql_hour, executed): (Option<i64>, Option<bool>),
) -> sql::Result<()> {
    let Subject { project, conversation, .. } = *subject;
    let before = find_counted_hour(connection, project, id)?;
    let (packed, made) = (PackedId::pack(id.as_str()), subject.row_position());
    connection.run(
        "INSERT INTO decisions (project, id, conversation, made, sql_hour, made_executed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (project, id) DO UPDATE SET conversation = excluded.conversation,
             made = excluded.made, sql_hour = excluded.sql_hour,
             made_executed = excluded.made_executed",
        (project, packed, conversation, made, sql_hour, executed),
    )?;
    recount(connection, project, id, before)
}

/// Stores the position of the newest outcome.
fn settle(
    connection: &Connection,
    subject: &Subject,
    id: &DecisionId,
    executed: Option<bool>,
) -> sql::Result<()> {
    if subject.user.is_none() && subject.conversation.is_none() && subject.turn.is_none() {
        note_early_outcome(connection, subject, id)?;
    }
    let before = find_counted_hour(connection, subject.project, id)?;
    connection.run(
        "INSERT INTO decisions (project, id, settled, settled_executed) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (project, id) DO UPDATE SET settled = excluded.settled,
             settled_executed = excluded.settled_executed",
        (subject.project, PackedId::pack(id.as_str()), subject.row_position(), executed),
    )?;
    recount(connection, subject.project, id, before)
}

/// An outcome that arrives before its decision names only the decision. An erasure finds it here,
/// also when a newer outcome replaced it.
fn note_early_outcome(
    connection: &Connection,
    subject: &Subject,
    id: &DecisionId,
) -> sql::Result<()> {
    connection.run(
        "INSERT INTO early_outcomes (project, id, position) VALUES (?1, ?2, ?3)",
        (subject.project, PackedId::pack(id.as_str()), subject.row_position()),
    )
}

/// The hour in which a generated SQL statement counts, and whether it was executed. It counts once
/// its latest outcome is known.
fn find_counted_hour(
    connection: &Connection,
    project: Key,
    id: &DecisionId,
) -> sql::Result<Option<(i64, bool)>> {
    connection.find_row(
        "SELECT sql_hour, CASE WHEN settled IS NULL THEN made_executed ELSE settled_executed END
         FROM decisions
         WHERE project = ?1 AND id = ?2 AND sql_hour IS NOT NULL
             AND CASE WHEN settled IS NULL THEN made_executed ELSE settled_executed END IS NOT NULL",
        (project, PackedId::pack(id.as_str())),
    )
}

fn recount(
    connection: &Connection,
    project: Key,
    id: &DecisionId,
    before: Option<(i64, bool)>,
) -> sql::Result<()> {
    let after = find_counted_hour(connection, project, id)?;
    if before == after {
        return Ok(());
    }
    for (counted, by) in [(before, -1), (after, 1)] {
        let Some((hour, executed)) = counted else { continue };
        let sql_executed = if executed { by } else { 0 };
        let counts = QualityCounts { sql_made: by, sql_executed, ..QualityCounts::default() };
        sums::add(connection, project, Place { hour, model: "", prompt: "" }, &counts)?;
    }
    Ok(())
}
