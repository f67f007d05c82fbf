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
    include_str!("../../../../migrations/postgres/0012_traces.sql"),
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

#[cfg(test)]
mod tests {
    use model::Position;
    use testkit::servers::{Postgres, or_skip};

    use super::*;
    use crate::postgres::Server;
    use crate::projections::baseline_positions;

    /// A store of the schema with one baseline for all projects and a partition per month.
    const OLDER: &str = r#"
        INSERT INTO projects (key, tenant, project) VALUES (1, 'a', 'default'), (2, 'b', 'default');
        INSERT INTO turns (key, project, id, ts, opened, completed) VALUES (7, 1, 't7', 3, 5, 10000000);
        INSERT INTO baseline_turns SELECT * FROM turns;
        INSERT INTO verdicts VALUES (3, 7, NULL, 1, 1, 1, 0), (4, NULL, NULL, 1, 1, 1, 0);
        SELECT make_partition(DATE '2026-03-01');
        INSERT INTO events VALUES
            (5, 1, 1, 1, 1, 1, 'e5', NULL, NULL, 7, 1, 1772600000000000, NULL, '{}'),
            (10000000, 1, 1, 1, 1, 1, 'a', NULL, NULL, 7, 1, 1, NULL, '{"model": "m"}'),
            (10000001, 1, 1, 1, 1, 1, 'f', NULL, NULL, 7, 1, 1, NULL, '{"finding": "answer"}');
        UPDATE log_head SET position = 10000001;
        INSERT INTO meta VALUES ('baseline_position', '\x0000000000000004')"#;

    #[test]
    fn older_store_gets_baselines_and_partitions_by_position() {
        let Some(server) = or_skip(Postgres::shared()) else { return };
        let database = server.database().unwrap();
        let mut store = Server::parse(database.url()).unwrap().writer().unwrap();
        store.raw_batch("CREATE TABLE schema_version (number BIGINT NOT NULL)").unwrap();
        for (number, sql) in (1_i64..).zip(&MIGRATIONS[..8]) {
            store.raw_batch(sql).unwrap();
            store.execute("INSERT INTO schema_version VALUES (?1)", [number]).unwrap();
        }
        store.raw_batch(OLDER).unwrap();
        migrate_to_newest(&mut store).unwrap();
        migrate_to_newest(&mut store).unwrap();
        let positions = baseline_positions::positions(&store).unwrap();
        assert_eq!(positions, [(1, Position(4)), (2, Position(4))].into());
        let run = |sql: &str| database.run(sql).unwrap();
        assert_eq!(run("SELECT id FROM events_0"), "e5");
        assert_eq!(run("SELECT id FROM events_1"), "a\nf");
        assert_eq!(run("SELECT count(*) FROM events_other"), "0");
        let tables = "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p')
            AND relname ~ '^(events_2026|events_by_month|older_baseline)'";
        assert_eq!(run(tables), "0");
        assert_eq!(run("SELECT model_id FROM implicit_feedback"), "m");
        assert_eq!(run("SELECT count(*) FROM verdicts"), "1", "a verdict on nothing is gone");
        assert_eq!(run("SELECT id, ts FROM baseline_turns WHERE key = 7"), "t7|3");
        let policies = "SELECT count(*) FROM pg_policies WHERE tablename = 'events'
            AND schemaname = current_schema()";
        assert_eq!(run(policies), "1");
        let defaults =
            "INSERT INTO baseline_turn_facts (turn, project) VALUES (7, 1) RETURNING answered";
        assert!(run(defaults).starts_with('0'));
    }
}
