//! Decisions and their outcomes, in any order of arrival.

use model::DecisionId;
use sql::{Connection, OptionalExtension};

use super::Subject;
use super::sums::{self, Place};
use crate::projections::counters::QualityCounts;
use crate::row_keys::{Key, PackedId};

/// Stores the position of the decision.
pub(crate) fn decide(
    connection: &Connection,
    subject: &Subject,
    id: &DecisionId,
    sql_executed: Option<bool>,
) -> sql::Result<()> {
    let before = counted(connection, subject.project, id)?;
    let hour = sql_executed.map(|_| sums::hour_number(subject.ts.as_micros()));
    connection
        .prepare_cached(
            "INSERT INTO decisions (project, id, conversation, made, sql_hour, made_executed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (project, id) DO UPDATE SET conversation = excluded.conversation, made = excluded.made,
                 sql_hour = excluded.sql_hour, made_executed = excluded.made_executed",
        )?
        .run((
            subject.project,
            PackedId::pack(id.as_str()),
            subject.conversation,
            subject.row_position(),
            hour,
            sql_executed,
        ))?;
    recount(connection, subject.project, id, before)
}

/// Stores the position of the newest outcome.
pub(crate) fn settle(
    connection: &Connection,
    subject: &Subject,
    id: &DecisionId,
    executed: bool,
) -> sql::Result<()> {
    let before = counted(connection, subject.project, id)?;
    connection
        .prepare_cached(
            "INSERT INTO decisions (project, id, settled, settled_executed) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (project, id) DO UPDATE SET settled = excluded.settled,
                 settled_executed = excluded.settled_executed",
        )?
        .run((subject.project, PackedId::pack(id.as_str()), subject.row_position(), executed))?;
    recount(connection, subject.project, id, before)
}

/// The hour in which a generated SQL statement counts, and whether it was executed.
fn counted(
    connection: &Connection,
    project: Key,
    id: &DecisionId,
) -> sql::Result<Option<(i64, bool)>> {
    connection
        .prepare_cached(
            "SELECT sql_hour, coalesce(settled_executed, made_executed) FROM decisions
             WHERE project = ?1 AND id = ?2 AND sql_hour IS NOT NULL",
        )?
        .query_row((project, PackedId::pack(id.as_str())), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

fn recount(
    connection: &Connection,
    project: Key,
    id: &DecisionId,
    before: Option<(i64, bool)>,
) -> sql::Result<()> {
    let after = counted(connection, project, id)?;
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
