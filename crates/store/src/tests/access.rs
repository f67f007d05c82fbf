//! Access by other processes: folder lock, read-only log, readiness.

use model::{Outcome, Position, Reaction, Scope};
use testkit::write;

use super::open;
use crate::contract::scene::{Scene, play};
use crate::maintenance::folder_lock::{is_folder_requested, read_lock_holder, request_folder};
use crate::read_only_log::ReadOnlyLog;
use crate::store::Store;
use crate::{LabelledTurnReads, StoreError};

#[tokio::test]
async fn lock_file_names_holder_and_request() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(read_lock_holder(folder), None);
    let store = open(folder).unwrap();
    assert!(!store.is_shared());
    let holder = read_lock_holder(folder).unwrap();
    assert_eq!(holder.process, format!("process {}", std::process::id()));
    assert_eq!((holder.server, holder.yields), (None, false));
    let server = |url: &str, token: &str| Some((url.to_owned(), token.to_owned()));
    store.announce("http://127.0.0.1:8787", "a-long-secret", true).unwrap();
    let holder = read_lock_holder(folder).unwrap();
    assert!(!format!("{holder:?}").contains("secret"), "{holder:?}");
    assert_eq!(holder.server, server("http://127.0.0.1:8787", "a-long-secret"));
    assert!(holder.yields);
    store.announce("http://[::1]:1", "short", false).unwrap();
    let holder = read_lock_holder(folder).unwrap();
    assert_eq!((holder.server, holder.yields), (server("http://[::1]:1", "short"), false));
    assert!(!is_folder_requested(folder));
    request_folder(folder).unwrap();
    assert!(is_folder_requested(folder));
    drop(store);
    assert_eq!(read_lock_holder(folder), None);
    let _next = open(folder).unwrap();
    assert!(!is_folder_requested(folder), "the request was served");
}

#[tokio::test]
async fn read_only_log_reads_a_store_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = ReadOnlyLog::open(folder.path()).err();
    assert!(matches!(nothing, Some(StoreError::NoStore { .. })), "{nothing:?}");
    let store = open(folder.path()).unwrap();
    check_log(&store, &ReadOnlyLog::open(folder.path()).unwrap()).await;
}

#[cfg(feature = "scaled")]
#[tokio::test]
async fn read_only_log_reads_postgres() {
    use testkit::servers::{Postgres, or_skip};

    let Some(server) = or_skip(Postgres::shared()) else { return };
    let (folder, database) = (tempfile::tempdir().unwrap(), server.database().unwrap());
    let limits = crate::Limits::default();
    let store = Store::connect(folder.path(), database.url(), limits, [7; 32]).unwrap();
    assert!(store.is_shared());
    check_log(&store, &ReadOnlyLog::connect(database.url()).unwrap()).await;
}

async fn check_log(store: &Store, log: &ReadOnlyLog) {
    assert_eq!(log.head().await.unwrap(), Position(0));
    play(store, [Scene::open("t1", "c1"), Scene::answer("t1")]).await;
    play(store, [Scene::react("good", "t1", Reaction::Ok)]).await;
    assert_eq!(log.head().await.unwrap(), store.head());
    let all = store.tail(Position(0), 9).await.unwrap();
    assert_eq!(log.tail(Position(0), 9).await.unwrap(), all);
    assert_eq!(log.tail(Position(1), 1).await.unwrap(), all[1..2]);
    let accepted = log.accepted(&Scope::default(), None, 9).await.unwrap();
    assert_eq!((accepted.len(), accepted[0].answer.as_str()), (1, "This."));
}

#[tokio::test]
async fn unwritable_store_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let scope = Scope::default();
    let other = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(!store.is_ready().await.unwrap(), "the first check performs a test write");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(store.is_ready().await.unwrap());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(store.is_ready().await.unwrap(), "no write was tried since");
    let refused = store.commit(vec![write(&scope, "a", 1)]).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert!(!store.is_ready().await.unwrap());
    assert_eq!((store.stats().failed_commits, store.stats().queued_writes), (1, 0));
    other.execute_batch("ROLLBACK").unwrap();
    assert!(store.is_ready().await.unwrap());
    let outcomes = store.commit(vec![write(&scope, "a", 1)]).await.unwrap();
    assert_eq!(outcomes, [Outcome::Stored(Position(1))]);
    assert!(store.is_ready().await.unwrap());
    let left = "SELECT count(*) FROM meta WHERE name = 'try'";
    let left: i64 = other.query_row(left, [], |row| row.get(0)).unwrap();
    assert_eq!((left, store.stats().failed_commits), (0, 1));
}

#[tokio::test]
async fn commits_sync_unless_disabled() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let synchronous = async || {
        let chore = store.writer.run(|connection| {
            let file = connection.sqlite().unwrap();
            let read = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
            file.pragma_query_value(None, "synchronous", read).map_err(StoreError::from)
        });
        chore.await.unwrap()
    };
    let (normal, full) = (1, 2);
    assert_eq!(synchronous().await, full);
    store.wait_for_disk(false).await.unwrap();
    assert_eq!(synchronous().await, normal);
    store.wait_for_disk(true).await.unwrap();
    assert_eq!(synchronous().await, full);
}

#[tokio::test]
async fn scrub_waits_for_old_readers() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let scope = Scope::default();
    store.commit(vec![write(&scope, "a", 1)]).await.unwrap();
    let reader = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    store.commit(vec![write(&scope, "b", 1)]).await.unwrap();
    assert!(!store.scrub_if_free().await.unwrap());
    reader.execute_batch("COMMIT").unwrap();
    // The store's own threads read and checkpoint briefly.
    let mut tries = 0;
    while !store.scrub_if_free().await.unwrap() {
        tries += 1;
        assert!(tries < 1000, "no reader is left");
    }
    let log = std::fs::metadata(folder.path().join("uptake.db-wal")).unwrap();
    assert_eq!(log.len(), 0);
}
