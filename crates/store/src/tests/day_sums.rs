//! Daily sums that an older store lacks, or that are damaged.

use std::path::Path;

use rusqlite::Connection;

use super::open;
use crate::Rebuild;
use crate::contract::quality::{changes_of, play_anything};
use crate::contract::retention::cover_all_events;

fn file(folder: &Path) -> Connection {
    Connection::open(folder.join("uptake.db")).unwrap()
}

fn rows(file: &Connection, table: &str) -> Vec<Vec<String>> {
    let mut select =
        file.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2, 3, 4, 5")).unwrap();
    let columns = select.column_count();
    let text = |row: &rusqlite::Row<'_>, n| format!("{:?}", row.get_ref(n).unwrap());
    let found =
        select.query_map([], |row| Ok((0..columns).map(|n| text(row, n)).collect())).unwrap();
    found.map(Result::unwrap).collect()
}

const TABLES: [&str; 4] =
    ["quality_days", "waits_days", "baseline_quality_days", "baseline_waits_days"];

#[tokio::test]
async fn migration_computes_day_sums_without_old_events() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    play_anything(&store).await;
    cover_all_events(&store, changes_of).await;
    drop(store);
    let older = file(folder.path());
    let kept = TABLES.map(|table| rows(&older, table));
    assert!(kept.iter().all(|rows| rows.len() > 2), "{kept:?}");
    let later = [
        "experiment_days",
        "baseline_experiment_days",
        "ended_visits",
        "reacted",
        "reacted_days",
        "baseline_reacted",
        "baseline_reacted_days",
        "early_outcomes",
        "baseline_early_outcomes",
        "baselines",
        "pending_traces",
        "baseline_pending_traces",
    ];
    for table in TABLES.iter().chain(&later) {
        older.execute_batch(&format!("DROP TABLE {table}")).unwrap();
    }
    for index in ["reactions_of_users", "returned_by_position", "decisions_by_made"] {
        older.execute_batch(&format!("DROP INDEX {index}")).unwrap();
    }
    for table in ["reactions", "baseline_reactions"] {
        older.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN rating")).unwrap();
    }
    for trigger in ["insert", "forget", "update", "delete"] {
        older.execute_batch(&format!("DROP TRIGGER event_words_{trigger}")).unwrap();
    }
    older.execute_batch("DROP TABLE event_words; DROP TABLE event_words_upto; DROP VIEW event_unread; DROP VIEW event_said").unwrap();
    let columns = [
        ("turns", "opened_derived"),
        ("turns", "completed_derived"),
        ("turn_facts", "measured_ts"),
        ("quality", "loose_failed"),
        ("turn_index", "language"),
    ];
    for (table, column) in columns {
        for table in [table.to_owned(), format!("baseline_{table}")] {
            older.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN {column}")).unwrap();
        }
    }
    older.pragma_update(None, "user_version", 18).unwrap();
    drop(older);
    drop(open(folder.path()).unwrap());
    let newer = file(folder.path());
    assert_eq!(TABLES.map(|table| rows(&newer, table)), kept);
}

#[tokio::test]
async fn rebuild_repairs_day_sums() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    play_anything(&store).await;
    drop(store);
    for damage in
        ["DELETE FROM quality_days", "UPDATE waits_days SET count = 7", "DELETE FROM waits_days"]
    {
        file(folder.path()).execute_batch(damage).unwrap();
        let store = open(folder.path()).unwrap();
        let again = async || {
            let how = Rebuild { changes_of, progress: Box::new(|_, _| {}) };
            store.rebuild(how).await.unwrap().changed
        };
        assert_eq!((again().await, again().await), (true, false), "{damage}");
    }
}
