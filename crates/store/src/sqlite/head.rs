//! The newest position, where several write: whoever has begun to write holds it.

use event::Position;

use crate::sql::{self, Connection};

/// Where the log stands; `None` where nobody else could have moved it.
pub(super) fn held(connection: &Connection) -> sql::Result<Option<Position>> {
    if connection.sqlite().is_some() {
        return Ok(None);
    }
    let mut select = connection.prepare_cached("SELECT position FROM log_head")?;
    let head: i64 = select.query_row((), |row| row.get(0))?;
    #[cfg(feature = "scaled")]
    if let Some(keys) = connection.postgres().map(|session| session.keys())
        && keys.others_wrote(head as u64)
    {
        // A user who was erased meanwhile is somebody new when they come back. Other ids stay.
        keys.forget("users");
    }
    Ok(Some(Position(head as u64)))
}

/// Where the log stands now.
pub(super) fn keep(connection: &Connection, head: Position) -> sql::Result<()> {
    if connection.sqlite().is_some() {
        return Ok(());
    }
    #[cfg(feature = "scaled")]
    if let Some(session) = connection.postgres() {
        session.keys().wrote(head.0);
    }
    connection.prepare_cached("UPDATE log_head SET position = ?1")?.run([head.0 as i64])
}
