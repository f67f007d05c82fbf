//! Migrates a Postgres database to the newest schema, one node at a time.

use sql::Connection;

use crate::error::StoreError;

const MIGRATIONS: &[&str] = &[
    include_str!("../../../../migrations/postgres/0001_start.sql"),
    include_str!("../../../../migrations/postgres/0002_reading.sql"),
    include_str!("../../../../migrations/postgres/0003_words.sql"),
    include_str!("../../../../migrations/postgres/0004_baseline_indexes.sql"),
    include_str!("../../../../migrations/postgres/0005_derived_turns.sql"),
    include_str!("../../../../migrations/postgres/0006_ratings.sql"),
    include_str!("../../../../migrations/postgres/0007_languages.sql"),
    include_str!("../../../../migrations/postgres/0008_erasure.sql"),
    include_str!("../../../../migrations/postgres/0009_project_baselines.sql"),
    include_str!("../../../../migrations/postgres/0010_position_partitions.sql"),
    include_str!("../../../../migrations/postgres/0011_touches.sql"),
];

/// The schema version that copies every event.
const POSITION_PARTITIONS: i64 = 10;

/// The advisory lock that nodes take to migrate.
const LOCK: i64 = 0x7570_7461_6b65;

/// This table exists while a store is being copied into the database.
pub(crate) const MIGRATION_NOTE: &str = "store_migration";

/// Rejects a database without a store, or with a newer schema.
pub(crate) fn check(connection: &Connection) -> Result<(), StoreError> {
    let there: bool =
        connection
            .query_row("SELECT to_regclass('schema_version') IS NOT NULL", (), |row| row.get(0))?;
    if !there {
        return Err(StoreError::NoStore { folder: "this Postgres database".into() });
    }
    check_finished(connection)?;
    version(connection).map(drop)
}

/// The schema version; 0 for an empty database.
fn version(connection: &Connection) -> Result<u32, StoreError> {
    let found: Option<i64> =
        connection.query_row("SELECT max(number) FROM schema_version", (), |row| row.get(0))?;
    let (found, known) = (found.unwrap_or(0) as u32, MIGRATIONS.len() as u32);
    if found > known { Err(StoreError::NewerSchema { found, known }) } else { Ok(found) }
}

/// Runs missing migrations in one transaction. Nodes that start at the same time wait.
pub(crate) fn migrate_to_newest(connection: &mut Connection) -> Result<(), StoreError> {
    connection.execute_batch("BEGIN")?;
    let outcome = lock(connection)
        .and_then(|()| check_finished(connection))
        .and_then(|()| migrate(connection));
    connection.execute_batch(if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    outcome
}

/// Takes the migration lock until the transaction ends, however long another node holds it.
pub(crate) fn lock(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch("SET LOCAL lock_timeout = 0")?;
    connection.prepare("SELECT pg_advisory_xact_lock(?1)")?.query([LOCK])?;
    Ok(())
}

/// True while a store is being copied into the database.
pub(crate) fn is_unfinished(connection: &Connection) -> Result<bool, StoreError> {
    let look = format!("SELECT to_regclass('{MIGRATION_NOTE}') IS NOT NULL");
    Ok(connection.query_row(&look, (), |row| row.get(0))?)
}

/// Rejects a database with an incomplete copy of a store.
fn check_finished(connection: &Connection) -> Result<(), StoreError> {
    if !is_unfinished(connection)? {
        return Ok(());
    }
    let why = "the database holds an incomplete migration; run `uptake migrate-store` again to \
        continue it";
    Err(StoreError::Migration(why.into()))
}

/// Runs missing migrations. The caller's transaction holds the lock.
pub(crate) fn migrate(connection: &Connection) -> Result<(), StoreError> {
    connection
        .execute_batch("CREATE TABLE IF NOT EXISTS schema_version (number BIGINT NOT NULL)")?;
    let found = version(connection)?;
    for (number, sql) in (1_i64..).zip(MIGRATIONS).skip(found as usize) {
        if found > 0 && number == POSITION_PARTITIONS {
            tracing::info!("copying the events into partitions by position; this may take minutes");
        }
        connection.raw_batch(sql)?;
        connection.execute("INSERT INTO schema_version (number) VALUES (?1)", [number])?;
    }
    let known = MIGRATIONS.len() as u32;
    if found < known {
        let count = known - found;
        tracing::info!("migrated the store from version {found} to {known} ({count} migrations)");
    }
    super::partitions::make_partitions(connection)?;
    Ok(())
}
