//! Sums of experiments that an older store lacks, or that are damaged.

use std::path::Path;

use model::Scope;
use rusqlite::Connection;

use super::open;
use crate::contract::experiments::{changes_of, id, play_all};
use crate::contract::retention::cover_all_events;
use crate::projections::apply::make_experiment_sums;
use crate::{Rebuild, StoreError};

fn file(folder: &Path) -> Connection {
    Connection::open(folder.join("uptake.db")).unwrap()
}

fn rows(file: &Connection, prefix: &str) -> Vec<String> {
    let mut all = Vec::new();
    for sql in [
        "SELECT json_array(experiment, place, metric, by_unit) FROM {}experiment_measures ORDER BY 1",
        "SELECT json_array(experiment, variant, moves, exposed, hex(sums)) FROM {}experiment_sums
         ORDER BY 1",
    ] {
        let mut select = file.prepare(&sql.replace("{}", prefix)).unwrap();
        let found = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
        all.extend(found.map(Result::unwrap));
    }
    all
}

#[tokio::test]
async fn migration_computes_experiment_sums_without_old_events() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    play_all(&store).await;
    cover_all_events(&store, changes_of).await;
    drop(store);
    let older = file(folder.path());
    let kept = rows(&older, "");
    assert_eq!(kept.len(), 4, "two measures, two variants: {kept:?}");
    assert_eq!(rows(&older, "baseline_"), kept);
    older
        .execute_batch(
            "DELETE FROM experiment_measures; DELETE FROM baseline_experiment_measures;
             DELETE FROM experiment_sums; DELETE FROM baseline_experiment_sums;",
        )
        .unwrap();
    let older = sql::Connection::Sqlite(older);
    make_experiment_sums(&older, "").unwrap();
    make_experiment_sums(&older, "baseline_").unwrap();
    drop(older);
    let newer = file(folder.path());
    assert_eq!(rows(&newer, ""), kept);
    assert_eq!(rows(&newer, "baseline_"), kept);
}

#[tokio::test]
async fn rebuild_repairs_experiment_sums() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    play_all(&store).await;
    let good = store.experiment_sums(&Scope::default(), &id()).await.unwrap();
    drop(store);
    for damage in ["sums = x'00'", "sums = substr(sums, 2)", "exposed = -1", "exposed = 7"] {
        file(folder.path()).execute(&format!("UPDATE experiment_sums SET {damage}"), []).unwrap();
        let store = open(folder.path()).unwrap();
        let read = store.experiment_sums(&Scope::default(), &id()).await;
        let is_told = matches!(read, Err(StoreError::Corrupt(_)));
        assert_eq!(is_told, damage != "exposed = 7", "{damage}: {read:?}");
        let how = Rebuild { changes_of, progress: Box::new(|_, _| {}) };
        assert!(store.rebuild(how).await.unwrap().changed, "{damage}");
        assert_eq!(store.experiment_sums(&Scope::default(), &id()).await.unwrap(), good);
    }
}
