//! The newest position, where several write: whoever has begun to write holds it (see `ahead`).

use model::Position;
use sql::Connection;

/// Where the log stands now.
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
