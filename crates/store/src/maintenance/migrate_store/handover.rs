//! The source store of a migration.

use std::path::Path;

use model::Position;
use sql::{Connection, OptionalExtension};

use crate::error::StoreError;
use crate::maintenance::folder_lock::FolderLock;
use crate::maintenance::migrations;
use crate::{event_rows, sqlite};

/// A locked store that no server can open meanwhile.
pub(crate) struct Handover {
    pub(crate) connection: Connection,
    /// The position of the newest event.
    pub(crate) head: Position,
    pub(crate) seal_key: [u8; 32],
    _lock: FolderLock,
}

impl Handover {
    /// Locks the folder and migrates its schema.
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join("uptake.db");
        if !file.exists() {
            return Err(StoreError::NoStore { folder: folder.to_owned() });
        }
        let lock = FolderLock::acquire(folder)?;
        let mut connection = Connection::Sqlite(sqlite::writer(&file)?);
        migrations::migrate_to_newest(&mut connection)?;
        let select = "SELECT value FROM meta WHERE name = 'seal_key'";
        let key: Option<[u8; 32]> =
            connection.query_row(select, (), |row| row.get(0)).optional()?;
        let seal_key =
            key.ok_or_else(|| StoreError::Corrupt("the store has no seal key".into()))?;
        let head = event_rows::newest_position(&connection)?;
        Ok(Self { connection, head, seal_key, _lock: lock })
    }
}
