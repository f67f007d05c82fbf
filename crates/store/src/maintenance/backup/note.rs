//! The note inside a backup that describes its content.

use model::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

pub(crate) const NAME: &str = "backup";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupNote {
    pub made_at: Timestamp,
    /// The position of the newest event.
    pub head: u64,
    pub tables: u64,
    pub rows: u64,
    /// The hash over all rows, in hexadecimal.
    pub digest: String,
}

impl BackupNote {
    pub(crate) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let text = json!({"made_at": self.made_at.as_micros(), "head": self.head,
            "tables": self.tables, "rows": self.rows, "digest": self.digest});
        let insert = "INSERT INTO meta (name, value) VALUES (?1, ?2)";
        connection.execute(insert, (NAME, text.to_string().into_bytes())).map(drop)
    }

    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let select = "SELECT value FROM meta WHERE name = ?1";
        let text: Option<Vec<u8>> =
            connection.query_row(select, [NAME], |row| row.get(0)).optional()?;
        Ok(text.and_then(|text| Self::parse(&text)))
    }

    /// Deletes the note, because a restored store is no longer a backup.
    pub(crate) fn remove(connection: &Connection) -> rusqlite::Result<()> {
        connection.execute("DELETE FROM meta WHERE name = ?1", [NAME]).map(drop)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        Some(Self {
            made_at: Timestamp::from_micros(value["made_at"].as_i64()?),
            head: value["head"].as_u64()?,
            tables: value["tables"].as_u64()?,
            rows: value["rows"].as_u64()?,
            digest: value["digest"].as_str()?.to_owned(),
        })
    }
}
