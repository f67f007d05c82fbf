//! Migrates a SQLite database to the newest schema. Migrations only go forward, under the folder's
//! lock.

use rusqlite::Connection as File;
use sql::Connection;

use crate::error::StoreError;
use crate::maintenance::baseline_tables::migrate_baselines;
use crate::meta;
use crate::projections::apply::make_experiment_sums;

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
    include_str!("../../../../migrations/sqlite/0023_derived_turns.sql"),
    include_str!("../../../../migrations/sqlite/0024_ratings.sql"),
    include_str!("../../../../migrations/sqlite/0025_languages.sql"),
    include_str!("../../../../migrations/sqlite/0026_erasure.sql"),
    include_str!("../../../../migrations/sqlite/0027_project_baselines.sql"),
    include_str!("../../../../migrations/sqlite/0028_traces.sql"),
];

/// Rejects a database with a newer schema. Returns its version.
pub(crate) fn check(connection: &File) -> Result<u32, StoreError> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = MIGRATIONS.len() as u32;
    if found > known { Err(StoreError::NewerSchema { found, known }) } else { Ok(found) }
}

pub(crate) fn check_reader(connection: &Connection) -> Result<u32, StoreError> {
    connection.sqlite().map_or(Ok(0), check)
}

/// Schema versions with new projections. Older stores rebuild them from the log.
const NEW_PROJECTIONS: [u32; 9] = [6, 9, 12, 14, 20, 23, 24, 25, 26];
/// The schema version with sums of experiments, computed from stored rows and the baseline.
const EXPERIMENT_SUMS: u32 = 11;
/// The schema version with a baseline per project.
const PROJECT_BASELINES: u32 = 27;

/// Logs one line for all migrations of a start.
fn log_migration(from: u32, to: u32) {
    if from < to {
        let count = to - from;
        tracing::info!("migrated the store from version {from} to {to} ({count} migrations)");
    }
}

/// Runs missing migrations, each in a transaction of its own.
pub(crate) fn migrate_to_newest(connection: &mut Connection) -> Result<(), StoreError> {
    let found = check_reader(connection)?;
    for (number, sql) in (1..).zip(MIGRATIONS).skip(found as usize) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(sql)?;
        if found > 0 && NEW_PROJECTIONS.contains(&number) {
            meta::mark_stale(&transaction)?;
        }
        if number == EXPERIMENT_SUMS {
            make_experiment_sums(&transaction, "")?;
            make_experiment_sums(&transaction, "baseline_")?;
        }
        if number == PROJECT_BASELINES {
            migrate_baselines(&transaction)?;
        }
        transaction.execute_batch(&format!("PRAGMA user_version = {number}"))?;
        transaction.commit()?;
    }
    log_migration(found, MIGRATIONS.len() as u32);
    Ok(())
}

/// Creates all tables in an empty database.
pub(crate) fn create_schema(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.execute_batch(&format!("BEGIN; {} COMMIT;", MIGRATIONS.concat()))?)
}

#[cfg(test)]
mod tests {
    use model::Position;

    use super::*;
    use crate::event_rows::newest_position;
    use crate::projections::baseline_positions;

    #[test]
    fn migration_marks_old_projections_stale() {
        let old = File::open_in_memory().unwrap();
        for (number, sql) in (1..).zip(&MIGRATIONS[..5]) {
            old.execute_batch(sql).unwrap();
            old.pragma_update(None, "user_version", number).unwrap();
        }
        let mut old = Connection::Sqlite(old);
        migrate_to_newest(&mut old).unwrap();
        migrate_to_newest(&mut old).unwrap();
        assert!(meta::is_stale(&old).unwrap(), "until they are made");
        meta::clear_stale(&old).unwrap();
        assert!(!meta::is_stale(&old).unwrap());
        let mut new = Connection::Sqlite(File::open_in_memory().unwrap());
        migrate_to_newest(&mut new).unwrap();
        assert!(!meta::is_stale(&new).unwrap());
    }

    /// A store of the schema with one baseline for all projects.
    #[test]
    fn former_baseline_becomes_that_of_every_project() {
        for (position, last) in [("4", 6), ("x'0000000000000009'", 9)] {
            let old = File::open_in_memory().unwrap();
            for (number, sql) in (1..).zip(&MIGRATIONS[..26]) {
                old.execute_batch(sql).unwrap();
                old.pragma_update(None, "user_version", number).unwrap();
            }
            old.execute_batch(&format!(
                "INSERT INTO projects VALUES (1, 'a', 'default'), (2, 'b', 'default');
                 INSERT INTO turns (key, project, id, ts) VALUES (7, 1, 't7', 3), (8, 1, 't8', NULL);
                 INSERT INTO baseline_turns SELECT * FROM turns WHERE key = 7;
                 INSERT INTO verdicts VALUES (3, 7, NULL, 1, 1, 1, 0), (4, NULL, NULL, 1, 1, 1, 0);
                 INSERT INTO baseline_verdicts SELECT * FROM verdicts;
                 INSERT INTO events VALUES (6, 1, 1, 1, 1, 1, 'e', NULL, NULL, 7, 1, 1, NULL, '{{}}');
                 INSERT INTO meta VALUES ('baseline_position', {position})"
            ))
            .unwrap();
            let mut store = Connection::Sqlite(old);
            migrate_to_newest(&mut store).unwrap();
            let positions = baseline_positions::positions(&store).unwrap();
            let former = if last == 9 { Position(9) } else { Position(4) };
            assert_eq!(positions, [(1, former), (2, former)].into());
            assert_eq!(newest_position(&store).unwrap(), Position(last));
            let of_baseline = "SELECT t.key, t.id, t.ts, v.position
                FROM baseline_turns t JOIN baseline_verdicts v ON v.turn = t.key";
            let kept: Vec<(i64, String, i64, i64)> = store.read_rows(of_baseline, ()).unwrap();
            assert_eq!(kept, [(7, "t7".to_owned(), 3, 3)]);
            let verdicts: Vec<i64> = store.read_rows("SELECT position FROM verdicts", ()).unwrap();
            assert_eq!(verdicts, [3], "a verdict on nothing is gone");
            let defaults = "INSERT INTO baseline_turn_facts (turn, project) VALUES (7, 1)
                RETURNING answered";
            assert_eq!(store.read_row::<i64>(defaults, ()).unwrap(), 0);
        }
    }
}
