//! Whether the store can be used now.

use crate::error::StoreError;
use sql::Connection;

/// Whether the database is there.
pub(super) fn answers(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.prepare_cached("SELECT 1")?.query_row((), |_| Ok(()))?)
}

/// Writes something as large as an ordinary group and takes it back, to see whether that is
/// possible: a little room is not enough to call a store ready.
pub(super) fn try_to_write(connection: &mut Connection) -> Result<(), StoreError> {
    let much = vec![0_u8; 1 << 18];
    connection.execute("REPLACE INTO meta (name, value) VALUES ('try', ?1)", [&much])?;
    connection.execute("DELETE FROM meta WHERE name = 'try'", ())?;
    Ok(())
}
