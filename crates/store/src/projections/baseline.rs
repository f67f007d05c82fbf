//! The baseline: a copy of the projections from which a rebuild starts.
//!
//! Events up to the baseline's position may be dropped. A rebuild restores the copy and replays the
//! events after it.

use model::Position;
use sql::Connection;

use crate::error::StoreError;
use crate::event_rows::newest_position;
use crate::meta;
use crate::projections::PROJECTIONS;

/// Copies the projections. Returns their position.
pub(crate) fn copy_projections(connection: &mut Connection) -> Result<Position, StoreError> {
    let transaction = connection.transaction()?;
    for (table, _) in PROJECTIONS {
        transaction.execute_batch(&format!(
            "DELETE FROM baseline_{table}; INSERT INTO baseline_{table} SELECT * FROM {table};"
        ))?;
    }
    let position = newest_position(&transaction)?;
    meta::write_position(&transaction, meta::BASELINE_POSITION, position)?;
    transaction.commit()?;
    Ok(position)
}

/// Restores the copy. Later turns keep empty rows.
pub(crate) fn restore(connection: &Connection) -> sql::Result<()> {
    for (table, _) in PROJECTIONS {
        if table == "turns" {
            connection.execute_batch(
                "UPDATE turns SET (conversation, user, ts, opened, completed, track, bundle, user_type,
                         opened_derived, completed_derived)
                     = (SELECT b.conversation, b.user, b.ts, b.opened, b.completed, b.track, b.bundle,
                            b.user_type, b.opened_derived, b.completed_derived
                        FROM baseline_turns b WHERE b.key = turns.key)
                 WHERE key IN (SELECT key FROM baseline_turns)",
            )?;
        } else {
            connection
                .execute_batch(&format!("INSERT INTO {table} SELECT * FROM baseline_{table}"))?;
        }
    }
    Ok(())
}
