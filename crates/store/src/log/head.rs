//! The log head on Postgres, where several nodes write. The writing transaction locks it.

use model::Position;
use sql::Connection;

/// Stores the newest position.
pub(crate) fn store_head(connection: &Connection, head: Position) -> sql::Result<()> {
    if connection.sqlite().is_some() {
        return Ok(());
    }
    #[cfg(feature = "scaled")]
    if let Some(session) = connection.postgres() {
        session.keys().wrote(head.0);
    }
    connection.prepare_cached("UPDATE log_head SET position = ?1")?.run([head.0 as i64])
}
