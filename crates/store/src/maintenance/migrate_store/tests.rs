//! Against a real Postgres.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use model::{Change, Scope};
use tempfile::TempDir;
use testkit::servers::{Database, Postgres, or_skip};

use super::tables::{ONLY_IN_POSTGRES, all};
use super::*;
use crate::Store;
use crate::StoredKey;
use crate::contract::retention::cover_all_events;
use crate::contract::{rebuild, scene};
use crate::log::Limits;

/// Runs what waits for answers away from the test's own runtime.
fn apart<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}

fn sqlite(folder: &TempDir) -> Store {
    Store::open(folder.path(), Limits::default(), [7; 32]).unwrap()
}

fn postgres(folder: &TempDir, database: &Database) -> Result<Store, StoreError> {
    Store::connect(folder.path(), database.url(), Limits::default(), [8; 32])
}

fn migrate(folder: &TempDir, database: &Database, batch: usize) -> Result<Migrated, StoreError> {
    apart(|| migrate_store(folder.path(), database.url(), batch, |_, _, _| {}))
}

fn key() -> StoredKey {
    let tenant = Scope::default().tenant;
    StoredKey {
        id: "k1".into(),
        hash: [9; 32],
        tenant,
        project: None,
        role: model::Role::Admin,
        rate: None,
        origin: None,
        created_at: scene::at(0),
        revoked_at: None,
    }
}

/// A store with ids of both kinds, an erased user, a key and a baseline.
async fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(&folder);
    rebuild::play_everything(&store).await;
    let uuid = "018f2f9e-7e6d-7c3a-9b1d-0123456789ab";
    scene::play(&store, [scene::Scene::open(uuid, "c2").by("u3")]).await;
    let mut more = scene::Scene::open("t9", "c2").by("u3");
    more.event.id = model::EventId::new(uuid).unwrap();
    scene::play(&store, [more]).await;
    cover_all_events(&store, rebuild::changes_of).await;
    let mut erasure = scene::Scene::new("erasure", "t9", Change::EraseUser(scene::user_id("u3")));
    erasure.event.turn = None;
    scene::play(&store, [erasure]).await;
    store.add_key(key()).await.unwrap();
    store.close().await.unwrap();
    folder
}

#[tokio::test]
async fn migration_knows_every_table() {
    let Some(server) = or_skip(Postgres::shared()) else { return };
    let (folder, database) = (tempfile::tempdir().unwrap(), server.database().unwrap());
    sqlite(&folder).close().await.unwrap();
    postgres(&tempfile::tempdir().unwrap(), &database).unwrap().close().await.unwrap();
    let known: BTreeSet<String> = all().map(|table| table.name).collect();
    assert_eq!(known.len(), all().count(), "a table is named twice");
    let source = Handover::open(folder.path()).unwrap();
    // The index of words is made by each database from its events.
    let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
        AND name NOT LIKE 'event_words%'";
    let of_sqlite: BTreeSet<String> = source
        .connection
        .prepare(names)
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(of_sqlite, known, "migrations/sqlite and migrate_store/tables.rs differ");
    let names = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
        AND relkind IN ('r', 'p') AND NOT relispartition";
    let of_postgres = database.run(names).unwrap();
    let of_postgres: BTreeSet<&str> =
        of_postgres.lines().filter(|name| !ONLY_IN_POSTGRES.contains(name)).collect();
    let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
    assert_eq!(of_postgres, known, "migrations/postgres and migrate_store/tables.rs differ");
}

#[tokio::test]
async fn migrated_store_is_equal() {
    let Some(server) = or_skip(Postgres::shared()) else { return };
    let (folder, database) = (filled().await, server.database().unwrap());
    let migrated = migrate(&folder, &database, 3).unwrap();
    assert_eq!((migrated.head, migrated.found), (14, 0));
    let (old, new) = (sqlite(&folder), postgres(&tempfile::tempdir().unwrap(), &database).unwrap());
    assert_eq!((old.head(), old.seal_key()), (new.head(), new.seal_key()));
    let tail = old.tail(model::Position(0), 99).await.unwrap();
    assert_eq!(tail, new.tail(model::Position(0), 99).await.unwrap());
    assert_eq!(tail.len(), 14);
    assert_eq!(new.keys().await.unwrap(), [key()]);
    let scope = Scope::default();
    for turn in ["t1", "t2", "t9", "018f2f9e-7e6d-7c3a-9b1d-0123456789ab"] {
        let turns = vec![scene::turn_id(turn)];
        let both = (old.turns(&scope, turns.clone()).await, new.turns(&scope, turns).await);
        assert_eq!(both.0.unwrap(), both.1.unwrap());
    }
    let partitions = database.run("SELECT count(*) FROM events_other").unwrap();
    assert_eq!(partitions, "0", "every event has its month");
    // Later rows get unused keys.
    scene::play(&new, [scene::Scene::open("later", "c-later").by("u-later")]).await;
    assert_eq!(new.head().0, 15);
}

#[tokio::test]
async fn interrupted_migration_resumes_and_stays_unusable() {
    let Some(server) = or_skip(Postgres::shared()) else { return };
    let (folder, database) = (filled().await, server.database().unwrap());
    let mut found = 0;
    for stop_after in [1, 7, 20, 40] {
        let run = || {
            let mut told = 0;
            migrate_store(folder.path(), database.url(), 2, |_, _, _| {
                told += 1;
                assert!(told <= stop_after, "stopped");
            })
        };
        apart(|| catch_unwind(AssertUnwindSafe(run)).unwrap_err());
        let refused = postgres(&tempfile::tempdir().unwrap(), &database).err().unwrap().to_string();
        assert!(refused.contains("run `uptake migrate-store` again"), "{refused}");
        let noted = database.run("SELECT sum(rows) FROM store_migration WHERE part !~ 'source'");
        let noted: u64 = noted.unwrap().parse().unwrap_or(0);
        assert!(noted >= found, "{noted} after {found}");
        found = noted;
    }
    let migrated = migrate(&folder, &database, 2).unwrap();
    assert_eq!(migrated.found, found);
    assert!(migrated.rows > found && found > 0, "{migrated:?}");
    let new = postgres(&tempfile::tempdir().unwrap(), &database).unwrap();
    assert_eq!(new.tail(model::Position(0), 99).await.unwrap().len(), 14);
}

/// A run that stops when it has told of its progress so often.
fn stopped(folder: &TempDir, database: &Database, after: usize) {
    let mut told = 0;
    let run = || {
        migrate_store(folder.path(), database.url(), 100, |_, _, _| {
            told += 1;
            assert!(told < after, "stopped");
        })
    };
    apart(|| catch_unwind(AssertUnwindSafe(run)).unwrap_err());
}

#[tokio::test]
async fn changed_tables_are_copied_again() {
    let Some(server) = or_skip(Postgres::shared()) else { return };
    let (folder, database) = (filled().await, server.database().unwrap());
    stopped(&folder, &database, 40);
    assert_eq!(database.run("SELECT count(*) FROM keys").unwrap(), "1", "that far it came");
    let store = sqlite(&folder);
    store.revoke_key("k1", scene::at(5)).await.unwrap();
    // In front of the one that was copied.
    store.add_key(StoredKey { id: "a".into(), ..key() }).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    migrate(&folder, &database, 100).unwrap();
    let new = postgres(&tempfile::tempdir().unwrap(), &database).unwrap();
    let keys = new.keys().await.unwrap();
    assert_eq!(keys.len(), 2);
    let revoked = keys.iter().find(|key| key.id == "k1").unwrap();
    assert_eq!(revoked.revoked_at, Some(scene::at(5)));
}

#[tokio::test]
async fn changed_row_is_copied_again() {
    let Some(server) = or_skip(Postgres::shared()) else { return };
    let (folder, database) = (filled().await, server.database().unwrap());
    stopped(&folder, &database, 40);
    assert_eq!(database.run("SELECT count(*) FROM keys").unwrap(), "1", "that far it came");
    let store = sqlite(&folder);
    // As many rows as before: only what is in them tells.
    store.revoke_key("k1", scene::at(5)).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    migrate(&folder, &database, 100).unwrap();
    let new = postgres(&tempfile::tempdir().unwrap(), &database).unwrap();
    let keys = new.keys().await.unwrap();
    assert_eq!((keys.len(), keys[0].revoked_at), (1, Some(scene::at(5))));
}

#[tokio::test]
async fn used_store_is_copied_from_the_beginning() {
    let Some(server) = or_skip(Postgres::shared()) else { return };
    let (folder, database) = (filled().await, server.database().unwrap());
    stopped(&folder, &database, 45);
    let store = sqlite(&folder);
    scene::play(&store, [scene::Scene::open("t10", "c3")]).await;
    store.close().await.unwrap();
    drop(store);
    let migrated = migrate(&folder, &database, 100).unwrap();
    assert_eq!((migrated.head, migrated.found), (15, 0));
    let new = postgres(&tempfile::tempdir().unwrap(), &database).unwrap();
    assert_eq!(new.tail(model::Position(0), 99).await.unwrap().len(), 15);
}

#[tokio::test]
async fn non_empty_target_is_rejected() {
    let Some(server) = or_skip(Postgres::shared()) else { return };
    let folder = filled().await;
    let foreign = server.database().unwrap();
    foreign.run("CREATE TABLE mine (a INT); INSERT INTO mine VALUES (1)").unwrap();
    let refused = migrate(&folder, &foreign, 9).unwrap_err().to_string();
    assert!(refused.contains("1 tables of another application"), "{refused}");
    assert_eq!(foreign.run("SELECT a FROM mine").unwrap(), "1");
    let other = server.database().unwrap();
    postgres(&tempfile::tempdir().unwrap(), &other).unwrap().close().await.unwrap();
    let refused = migrate(&folder, &other, 9).unwrap_err().to_string();
    assert!(refused.contains("the target holds another store"), "{refused}");
    let twice = server.database().unwrap();
    migrate(&folder, &twice, 9).unwrap();
    let refused = migrate(&folder, &twice, 9).unwrap_err().to_string();
    assert!(refused.contains("already holds a complete copy"), "{refused}");
    let held = sqlite(&folder);
    let refused = migrate(&folder, &server.database().unwrap(), 9).unwrap_err();
    assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    held.close().await.unwrap();
    let nothing = tempfile::tempdir().unwrap();
    let refused = migrate(&nothing, &server.database().unwrap(), 9).unwrap_err();
    assert!(matches!(refused, StoreError::NoStore { .. }), "{refused}");
}
