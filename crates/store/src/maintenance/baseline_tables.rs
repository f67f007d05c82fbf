//! Gives each `baseline_*` table of a SQLite store the definition of its projection.

use model::Position;
use sql::Connection;

use crate::error::StoreError;
use crate::event_rows::newest_position;
use crate::meta;
use crate::projections::PROJECTIONS;

/// The indexes that changes need. Unique columns of the tables themselves have theirs.
const INDEXES: &str = "
    CREATE INDEX baseline_turns_by_user ON baseline_turns (user) WHERE user IS NOT NULL;
    CREATE INDEX baseline_turns_by_conversation ON baseline_turns (conversation, ts)
        WHERE conversation IS NOT NULL;
    CREATE INDEX baseline_reactions_by_turn ON baseline_reactions (turn, origin, user);
    CREATE INDEX baseline_reactions_by_conversation
        ON baseline_reactions (conversation, origin, reaction, ts) WHERE conversation IS NOT NULL;
    CREATE INDEX baseline_reactions_by_message ON baseline_reactions (detected_in)
        WHERE detected_in IS NOT NULL;
    CREATE INDEX baseline_verdicts_by_turn ON baseline_verdicts (turn) WHERE turn IS NOT NULL;
    CREATE UNIQUE INDEX baseline_verdicts_by_message ON baseline_verdicts (detected_in)
        WHERE detected_in IS NOT NULL;
    CREATE INDEX baseline_turn_facts_by_user ON baseline_turn_facts (user, ts)
        WHERE user IS NOT NULL AND ts IS NOT NULL;
    CREATE INDEX baseline_alerts_by_project ON baseline_alerts (project, metric);
    CREATE INDEX baseline_experiment_units_now ON baseline_experiment_units (unit, kind)
        WHERE current = 1;";

/// Keeps the rows. The position of the former baseline becomes that of every project.
pub(crate) fn migrate_baselines(connection: &Connection) -> Result<(), StoreError> {
    for (table, _) in PROJECTIONS {
        redefine(connection, table)?;
    }
    connection.execute_batch(INDEXES)?;
    let former = meta::read_position(connection, meta::FORMER_BASELINE)?;
    if let Some(position @ Position(number)) = former {
        connection.execute(
            "INSERT INTO baselines (project, position) SELECT key, ?1 FROM projects WHERE TRUE
             ON CONFLICT (project) DO NOTHING",
            [number as i64],
        )?;
        // The newest events may be among the dropped ones.
        let head = position.max(newest_position(connection)?);
        meta::write_position(connection, meta::REMOVED_POSITION, head)?;
        connection.execute("DELETE FROM meta WHERE name = ?1", [meta::FORMER_BASELINE])?;
    }
    Ok(())
}

fn redefine(connection: &Connection, table: &str) -> Result<(), StoreError> {
    let definition: Option<String> =
        connection.find_row("SELECT sql FROM sqlite_master WHERE name = ?1", [table])?;
    // A later migration creates both tables.
    let Some(definition) = definition else { return Ok(()) };
    let columns: Vec<String> =
        connection.read_rows("SELECT name FROM pragma_table_info(?1)", [table])?;
    let columns = columns.join(", ");
    let head = format!("CREATE TABLE {table} ");
    let Some(body) = definition.strip_prefix(&head) else {
        let why = format!("the table {table} has an unexpected definition: {definition}");
        return Err(StoreError::Corrupt(why));
    };
    Ok(connection.execute_batch(&format!(
        "ALTER TABLE baseline_{table} RENAME TO older_baseline;
         CREATE TABLE baseline_{table} {body};
         INSERT INTO baseline_{table} ({columns}) SELECT {columns} FROM older_baseline;
         DROP TABLE older_baseline;"
    ))?)
}
