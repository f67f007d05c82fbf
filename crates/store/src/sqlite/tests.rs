//! SQLite against the contract, and what only SQLite can show.

use std::path::Path;

use event::{Outcome, Position, Scope};
use testkit::write;

use super::{Limits, SqliteStore};
use crate::contract::{events, log};
use crate::{Log, StoreError};

fn open(folder: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(folder, Limits::default(), [7; 32])
}

/// One test per function of the contract, each with a store of its own.
macro_rules! contract {
    ($($module:ident::$name:ident),+ $(,)?) => {$(
        #[tokio::test]
        async fn $name() {
            let folder = tempfile::tempdir().unwrap();
            $module::$name(&open(folder.path()).unwrap()).await;
        }
    )+};
}

contract!(
    log::positions_have_no_gaps,
    log::an_id_is_used_once,
    log::ids_are_per_scope,
    log::a_request_key_stands_for_its_first_event,
    log::commits_at_once_are_all_kept,
    log::a_closed_store_takes_nothing,
    events::an_event_comes_back_as_it_went_in,
    events::a_scope_sees_only_its_own,
    events::pages_follow_the_log,
);

#[tokio::test]
async fn a_reopened_store_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let scope = Scope::default();
    let first = open(folder.path()).unwrap();
    first.commit(vec![write(&scope, "a", 1)]).await.unwrap();
    let key = first.seal_key();
    drop(first);
    let second = SqliteStore::open(folder.path(), Limits::default(), [8; 32]).unwrap();
    assert_eq!((second.head(), second.seal_key()), (Position(1), key));
    let outcomes = second.commit(vec![write(&scope, "a", 1), write(&scope, "b", 1)]).await.unwrap();
    assert!(matches!(outcomes[0], Outcome::Replayed { position: Position(1), .. }));
    assert_eq!(outcomes[1], Outcome::Stored(Position(2)));
}

#[tokio::test]
async fn a_folder_has_one_owner_who_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let _first = open(folder.path()).unwrap();
    let second = open(folder.path()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(second.contains(&format!("process {}", std::process::id())), "{second}");
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    file.pragma_update(None, "user_version", 999).unwrap();
    drop(file);
    let refused = open(folder.path()).err();
    assert!(matches!(refused, Some(StoreError::NewerSchema { found: 999, .. })), "{refused:?}");
}

#[tokio::test]
async fn one_bad_write_harms_no_other_of_its_group() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    file.execute_batch(
        "CREATE TRIGGER poison BEFORE INSERT ON events WHEN new.id = 'poison'
         BEGIN SELECT raise(ABORT, 'poisoned'); END;",
    )
    .unwrap();
    drop(file);
    let store = open(folder.path()).unwrap();
    let scope = Scope::default();
    let group = ["a", "poison", "b"].map(|id| write(&scope, id, 1)).to_vec();
    let outcomes = store.commit(group).await.unwrap();
    let stored = |position| Outcome::Stored(Position(position));
    assert_eq!(outcomes, [stored(1), Outcome::Failed, stored(2)]);
}

#[tokio::test]
async fn a_full_queue_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { queue_bytes: 4096, ..Limits::default() };
    let store = SqliteStore::open(folder.path(), limits, [7; 32]).unwrap();
    let scope = Scope::default();
    let commits: Vec<_> =
        (0..2000).map(|n| store.commit(vec![write(&scope, &format!("e{n}"), 1)])).collect();
    let (mut stored, mut busy) = (0, 0);
    for commit in commits {
        match commit.await {
            Ok(_) => stored += 1,
            Err(StoreError::Busy) => busy += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(busy > 0, "2000 writes must not fit into 4 KiB");
    assert_eq!(store.head(), Position(stored));
}
