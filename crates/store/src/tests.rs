//! SQLite against the contract, and tests that need SQLite.

mod day_sums;
mod access;
mod experiment_sums;
mod deep_pages;
#[cfg(feature = "scaled")]
mod fuzz;
mod dead_letters;
mod query_plans;
#[cfg(feature = "scaled")]
mod postgres;
#[cfg(feature = "scaled")]
mod postgres_log;
mod word_index;

use std::path::Path;
use std::time::Duration;

use model::{
    Change, Entry, Event, Outcome, Position, Scope, SettingsChange, TurnChange, TurnId, Write,
};
use serde_json::{Map, Value, json};
use testkit::write;

use crate::StoreError;
use crate::contract::rebuild;
use crate::log::Limits;
use crate::store::Store;

fn open(folder: &Path) -> Result<Store, StoreError> {
    Store::open(folder, Limits::default(), [7; 32])
}

struct Fresh {
    folder: tempfile::TempDir,
}

impl Fresh {
    #[expect(clippy::unnecessary_wraps, reason = "other databases may not be there")]
    fn new() -> Option<Self> {
        Some(Self { folder: tempfile::tempdir().unwrap() })
    }

    fn open(&self) -> Store {
        open(self.folder.path()).unwrap()
    }
}

crate::contract::contract_tests!(Fresh);

#[tokio::test]
async fn rebuild_repairs_damaged_projections() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    rebuild::play_everything(&store).await;
    drop(store);
    for damage in [
        "DELETE FROM activity",
        "UPDATE activity SET count = count + 1",
        "DELETE FROM decisions",
        "UPDATE reactions SET reaction = 3",
        "UPDATE turns SET user = NULL",
        "DELETE FROM turn_index",
        "UPDATE turn_index SET user_feedback_status = 'accepted'",
        "DELETE FROM verdicts",
        "DELETE FROM open_sessions",
        "DELETE FROM turn_vectors",
    ] {
        let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
        file.execute_batch(damage).unwrap();
        drop(file);
        let store = open(folder.path()).unwrap();
        let again = async || {
            let progress = Box::new(|_, _| {});
            let how = crate::Rebuild { changes_of: rebuild::changes_of, progress };
            store.rebuild(how).await.unwrap().changed
        };
        assert_eq!((again().await, again().await), (true, false), "{damage}");
    }
}

#[tokio::test]
async fn message_index_uses_the_documented_values() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    rebuild::play_everything(&store).await;
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    let select = "SELECT role, tags, turn_id, text FROM conv_messages ORDER BY ts LIMIT 1";
    let row: (String, String, String, String) = file
        .query_row(select, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap();
    let tags = r#"["artifact:turn.log.reaction","turn:t1","origin:user","track:A"]"#;
    assert_eq!((row.0.as_str(), row.1.as_str(), row.2.as_str()), ("artifact", tags, "t1"));
    assert!(row.3.starts_with("[turn.log.reaction] {\"turn_id\":\"t1\""), "{}", row.3);
}

#[tokio::test]
async fn answer_findings_use_the_documented_values() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let half = |id: &str, turn: &str, change: Change, data: Value| {
        let turn = Some(TurnId::new(turn).unwrap());
        let body = testkit::other_body(&data);
        let event = Event { turn, body, ..testkit::event(&Scope::default(), id) };
        Entry { event: testkit::redacted(event), changes: vec![change] }
    };
    let nothing =
        || Change::Settings(SettingsChange::Router { name: "none".into(), definition: Map::new() });
    let opened = |turn: &str| {
        let change = testkit::opening_change();
        half(&format!("open-{turn}"), turn, change, json!({"phase": "opened", "text": "?"}))
    };
    let completed = |turn: &str, more: Value| {
        let mut data = json!({"phase": "completed", "status": "success"});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let change = Change::Turn(TurnChange::Complete {
            outcome: None,
            quality: None,
            has_strategy: false,
        });
        half(&format!("done-{turn}"), turn, change, data)
    };
    let answer = |turn: &str, error: Value, latency: Value| {
        let data = json!({"finding": "answer", "error": {"error_type": error}, "latency": latency});
        half(&format!("seen-{turn}"), turn, nothing(), data)
    };
    let retry = json!({"finding": "retry", "detected_in": "t2", "similarity": 0.9,
        "delay_seconds": 12.5, "intent": "dissatisfied"});
    let quick = json!({"seconds": 1.5, "tolerance": "high", "accepted": true, "skewed": false});
    for entries in [
        vec![opened("t1")],
        vec![completed("t1", json!({"model": "m1"})), answer("t1", Value::Null, quick)],
        vec![opened("t2"), half("again", "t1", nothing(), retry)],
        vec![completed("t2", json!({})), answer("t2", "timeout".into(), Value::Null)],
    ] {
        let mut entries = entries.into_iter();
        let entry = entries.next().unwrap();
        let id = entry.event.id.to_string();
        let claims = vec![testkit::claim(&id, 1)];
        let Entry { event, changes } = entry;
        let write = Write { claims, more: entries.collect(), ..Write::new(event, changes) };
        store.commit(vec![write]).await.unwrap();
    }
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    let select = "SELECT json_array(query_id, model_id, error_occurred, error_type, latency_seconds,
            latency_accepted, latency_tolerance, retry_detected, retry_delay_seconds, similarity_score,
            original_query_id, tenant)
        FROM implicit_feedback ORDER BY query_id";
    let mut select = file.prepare(select).unwrap();
    let rows: Vec<String> =
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let expected = [
        r#"["t1","m1",0,null,1.5,1,"high",0,null,null,null,"default"]"#,
        r#"["t2","unknown",1,"timeout",null,1,null,1,12.5,0.9,"t1","default"]"#,
    ];
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn unreadable_turn_is_an_error_and_not_a_dropped_turn() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    rebuild::play_everything(&store).await;
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    let spoil = "UPDATE events SET data = '{\"phase\": 7}'
        WHERE position = (SELECT opened FROM turns WHERE id = 't1')";
    assert_eq!(file.execute(spoil, []).unwrap(), 1);
    drop(file);
    let store = open(folder.path()).unwrap();
    let turns = vec![TurnId::new("t1").unwrap()];
    let read = store.exchanges_by_id(&Scope::default(), turns).await;
    assert!(matches!(read, Err(StoreError::Corrupt(_))), "{read:?}");
}

#[tokio::test]
async fn reopened_store_continues_at_its_head() {
    let folder = tempfile::tempdir().unwrap();
    let scope = Scope::default();
    let first = open(folder.path()).unwrap();
    first.commit(vec![write(&scope, "a", 1)]).await.unwrap();
    let key = first.seal_key();
    drop(first);
    let second = Store::open(folder.path(), Limits::default(), [8; 32]).unwrap();
    assert_eq!((second.head(), second.seal_key()), (Position(1), key));
    let outcomes = second.commit(vec![write(&scope, "a", 1), write(&scope, "b", 1)]).await.unwrap();
    assert!(matches!(outcomes[0], Outcome::Replayed { position: Position(1), .. }));
    assert_eq!(outcomes[1], Outcome::Stored(Position(2)));
}

#[tokio::test]
async fn old_integer_positions_are_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    let (scope, first) = (Scope::default(), open(folder.path()).unwrap());
    first.commit(["a", "b"].map(|id| write(&scope, id, 1)).to_vec()).await.unwrap();
    let both = vec![Position(1), Position(2)];
    assert_eq!(first.drop_events(both, |_| Vec::new()).await.unwrap(), 2);
    drop(first);
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    let as_before = "UPDATE meta SET value = 2 WHERE name = 'removed_position'";
    assert_eq!(file.execute(as_before, []).unwrap(), 1);
    drop(file);
    let store = open(folder.path()).unwrap();
    let outcomes = store.commit(vec![write(&scope, "c", 1)]).await.unwrap();
    assert_eq!(outcomes, [Outcome::Stored(Position(3))]);
}

#[tokio::test]
async fn locked_folder_names_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let _first = open(folder.path()).unwrap();
    let second = open(folder.path()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(second.contains(&format!("process {}", std::process::id())), "{second}");
}

#[tokio::test]
async fn newer_schema_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    file.pragma_update(None, "user_version", 999).unwrap();
    drop(file);
    let refused = open(folder.path()).err();
    assert!(matches!(refused, Some(StoreError::NewerSchema { found: 999, .. })), "{refused:?}");
}

#[tokio::test]
async fn bad_write_fails_alone_in_its_group() {
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
    assert_eq!(outcomes, [stored(1), Outcome::SetAside, stored(2)]);
    let letters = store.dead_letters(&scope, 0, 10).await.unwrap();
    assert_eq!((letters.len(), letters[0].id.as_str()), (1, "poison"));
    assert!(letters[0].reason.contains("poisoned"), "{}", letters[0].reason);
    let whole = write(&scope, "poison", 1);
    assert_eq!(letters[0].write, whole, "claims and events are all there");
    store.drop_dead_letter(&scope, "poison").await.unwrap();
    assert_eq!(store.dead_letter(&scope, "poison").await.unwrap(), None);
}

#[tokio::test]
async fn unreadable_dead_letter_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let scope = Scope::default();
    for id in ["m1", "m2", "m3"] {
        store.set_aside(write(&scope, id, 1), "garbled".to_owned()).await.unwrap();
    }
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    file.execute_batch("UPDATE dead_letters SET letter = '{}' WHERE id = 'm1'").unwrap();
    drop(file);
    let store = open(folder.path()).unwrap();
    for (limit, expected) in [(1, &["m2"][..]), (9, &["m2", "m3"][..])] {
        let listed = store.dead_letters(&scope, 0, limit).await.unwrap();
        let listed: Vec<&str> = listed.iter().map(|letter| letter.id.as_str()).collect();
        assert_eq!(listed, expected);
    }
    assert!(store.dead_letter(&scope, "m1").await.is_err());
}

/// Holds the write lock like a reader that finds the WAL index header half-written.
#[tokio::test]
async fn commit_waits_for_a_short_lock() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let other = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let commit = store.commit(vec![write(&Scope::default(), "e1", 1)]);
    let let_go = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        other.execute_batch("ROLLBACK").unwrap();
    });
    commit.await.unwrap();
    let_go.join().unwrap();
    assert_eq!(store.head(), Position(1));
}

#[tokio::test]
async fn full_queue_returns_busy() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { queue_bytes: 4096, ..Limits::default() };
    let store = Store::open(folder.path(), limits, [7; 32]).unwrap();
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
