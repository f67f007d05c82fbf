//! Brings a database to the newest schema. Numbered, forward only; the folder's lock keeps others
//! away meanwhile.

use rusqlite::Connection as File;

use super::apply::make_experiment_sums;
use crate::error::StoreError;
use sql::{Connection, OptionalExtension};

const MIGRATIONS: &[&str] = &[
    include_str!("../../../../migrations/sqlite/0001_log.sql"),
    include_str!("../../../../migrations/sqlite/0002_reactions.sql"),
    include_str!("../../../../migrations/sqlite/0003_keys.sql"),
    include_str!("../../../../migrations/sqlite/0004_privacy.sql"),
    include_str!("../../../../migrations/sqlite/0005_baseline.sql"),
    include_str!("../../../../migrations/sqlite/0006_loop.sql"),
    include_str!("../../../../migrations/sqlite/0007_routing.sql"),
    include_str!("../../../../migrations/sqlite/0008_relevance.sql"),
    include_str!("../../../../migrations/sqlite/0009_quality.sql"),
    include_str!("../../../../migrations/sqlite/0010_experiments.sql"),
    include_str!("../../../../migrations/sqlite/0011_experiment_sums.sql"),
    include_str!("../../../../migrations/sqlite/0012_loose.sql"),
    include_str!("../../../../migrations/sqlite/0013_comments.sql"),
    include_str!("../../../../migrations/sqlite/0014_strategies.sql"),
    include_str!("../../../../migrations/sqlite/0015_leases.sql"),
    include_str!("../../../../migrations/sqlite/0016_copies_due.sql"),
    include_str!("../../../../migrations/sqlite/0017_router_versions.sql"),
    include_str!("../../../../migrations/sqlite/0018_listed.sql"),
    include_str!("../../../../migrations/sqlite/0019_quality_days.sql"),
    include_str!("../../../../migrations/sqlite/0020_experiment_days.sql"),
    include_str!("../../../../migrations/sqlite/0021_words.sql"),
    include_str!("../../../../migrations/sqlite/0022_baseline_indexes.sql"),
];

/// Refuses a database that a newer program has written. Answers its schema's number.
pub(super) fn check(connection: &File) -> Result<u32, StoreError> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = MIGRATIONS.len() as u32;
    if found > known { Err(StoreError::NewerSchema { found, known }) } else { Ok(found) }
}

/// The same, for a connection that only reads.
pub(super) fn check_reader(connection: &Connection) -> Result<u32, StoreError> {
    connection.sqlite().map_or(Ok(0), check)
}

/// Schemas that brought new projections: a store that was older must make them from its log.
const NEW_PROJECTIONS: [u32; 5] = [6, 9, 12, 14, 20];
/// The mark of a store that has not done so yet.
const STALE: &str = "stale_projections";

/// The schema that brought sums of experiments. They follow from rows that are there, also in the copy
/// that outlives old events.
const EXPERIMENT_SUMS: u32 = 11;

/// Whether the projections must be made again before they are read.
pub(super) fn is_stale(connection: &Connection) -> Result<bool, StoreError> {
    Ok(connection.prepare("SELECT 1 FROM meta WHERE name = ?1")?.exists([STALE])?)
}

/// They were made again.
pub(super) fn fresh(connection: &Connection) -> sql::Result<()> {
    connection.execute("DELETE FROM meta WHERE name = ?1", [STALE]).map(drop)
}

/// Runs what is missing, each step in a transaction of its own.
pub(super) fn to_newest(connection: &mut Connection) -> Result<(), StoreError> {
    let found = check_reader(connection)?;
    for (number, sql) in (1..).zip(MIGRATIONS).skip(found as usize) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(sql)?;
        if found > 0 && NEW_PROJECTIONS.contains(&number) {
            transaction.execute("REPLACE INTO meta (name, value) VALUES (?1, x'01')", [STALE])?;
        }
        if number == EXPERIMENT_SUMS {
            make_experiment_sums(&transaction, "")?;
            make_experiment_sums(&transaction, "baseline_")?;
        }
        transaction.execute_batch(&format!("PRAGMA user_version = {number}"))?;
        transaction.commit()?;
        tracing::info!(schema = number, "store migrated");
    }
    Ok(())
}

/// The store's key; `fresh` if it has none yet.
pub(super) fn seal_key(connection: &Connection, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
    let select = "SELECT value FROM meta WHERE name = 'seal_key'";
    let stored: Option<Vec<u8>> = connection.query_row(select, (), |row| row.get(0)).optional()?;
    let stored = match stored {
        Some(stored) => stored,
        None => {
            // Of nodes that start at once, the first one's key is everybody's.
            let insert =
                "INSERT INTO meta (name, value) VALUES ('seal_key', ?1) ON CONFLICT DO NOTHING";
            connection.execute(insert, [&fresh[..]])?;
            connection.query_row(select, (), |row| row.get(0))?
        }
    };
    stored.try_into().map_err(|_| StoreError::Corrupt("the seal key is not 32 bytes long".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_store_makes_new_projections_once_and_a_new_one_has_none_to_make() {
        let old = File::open_in_memory().unwrap();
        for (number, sql) in (1..).zip(&MIGRATIONS[..5]) {
            old.execute_batch(sql).unwrap();
            old.pragma_update(None, "user_version", number).unwrap();
        }
        let mut old = Connection::Sqlite(old);
        to_newest(&mut old).unwrap();
        to_newest(&mut old).unwrap();
        assert!(is_stale(&old).unwrap(), "until they are made");
        fresh(&old).unwrap();
        assert!(!is_stale(&old).unwrap());
        let mut new = Connection::Sqlite(File::open_in_memory().unwrap());
        to_newest(&mut new).unwrap();
        assert!(!is_stale(&new).unwrap());
    }
}
