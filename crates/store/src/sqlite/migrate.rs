//! Brings a database to the newest schema. Numbered, forward only; the folder's lock keeps others
//! away meanwhile.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::error::StoreError;

const MIGRATIONS: &[&str] = &[
    include_str!("../../../../migrations/sqlite/0001_log.sql"),
    include_str!("../../../../migrations/sqlite/0002_reactions.sql"),
    include_str!("../../../../migrations/sqlite/0003_keys.sql"),
    include_str!("../../../../migrations/sqlite/0004_privacy.sql"),
    include_str!("../../../../migrations/sqlite/0005_baseline.sql"),
    include_str!("../../../../migrations/sqlite/0006_loop.sql"),
];

/// Refuses a database that a newer program has written. Answers its schema's number.
pub(super) fn check(connection: &Connection) -> Result<u32, StoreError> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = MIGRATIONS.len() as u32;
    if found > known { Err(StoreError::NewerSchema { found, known }) } else { Ok(found) }
}

/// Runs what is missing, each step in a transaction of its own.
pub(super) fn to_newest(connection: &mut Connection) -> Result<(), StoreError> {
    let found = check(connection)?;
    for (number, sql) in (1..).zip(MIGRATIONS).skip(found as usize) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", number)?;
        transaction.commit()?;
        tracing::info!(schema = number, "store migrated");
    }
    Ok(())
}

/// The store's key; `fresh` if it has none yet.
pub(super) fn seal_key(connection: &Connection, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
    let select = "SELECT value FROM meta WHERE name = 'seal_key'";
    let stored: Option<Vec<u8>> = connection.query_row(select, [], |row| row.get(0)).optional()?;
    let Some(stored) = stored else {
        let insert = "INSERT INTO meta (name, value) VALUES ('seal_key', ?1)";
        connection.execute(insert, [&fresh[..]])?;
        return Ok(fresh);
    };
    stored.try_into().map_err(|_| StoreError::Corrupt("the seal key is not 32 bytes long".into()))
}
