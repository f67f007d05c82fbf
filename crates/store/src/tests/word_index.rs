//! The full-text index.

use model::Change;
use rusqlite::Connection;

use super::open;
use crate::Rebuild;
use crate::contract::conversation_list::{asks, talk, worded};
use crate::contract::rebuild::changes_of;
use crate::contract::scene::{Scene, play, user_id};

#[tokio::test]
async fn rebuild_repairs_the_word_index() {
    let folder = tempfile::tempdir().unwrap();
    let file = || Connection::open(folder.path().join("uptake.db")).unwrap();
    let messages = || -> i64 {
        let sql = "SELECT count(*) FROM event_words WHERE event_words MATCH 'refund'";
        file().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let store = open(folder.path()).unwrap();
    talk(&store).await;
    assert_eq!(worded(&store, "refund").await.len(), 3);
    assert_eq!(messages(), 5);
    file().execute("INSERT INTO event_words (event_words) VALUES ('delete-all')", []).unwrap();
    assert_eq!(messages(), 0);
    store.rebuild(Rebuild { changes_of, progress: Box::new(|_, _| {}) }).await.unwrap();
    assert_eq!(messages(), 5);
}

#[tokio::test]
async fn erased_words_leave_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    talk(&store).await;
    assert_eq!(worded(&store, "commande").await.len(), 1);
    let is_there = || {
        let bytes = std::fs::read(folder.path().join("uptake.db")).unwrap();
        bytes.windows(8).any(|window| window == b"commande")
    };
    assert!(store.scrub().await.unwrap() && is_there());
    let mut erasure = Scene::new("erasure", "t1", Change::EraseUser(user_id("ann")));
    erasure.event.turn = None;
    play(&store, [erasure]).await;
    assert!(store.scrub().await.unwrap() && !is_there());
}

#[tokio::test]
async fn many_messages_are_indexed_without_a_search() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    play(&store, (0..300).map(|n| asks(&format!("t{n}"), "c", "refund"))).await;
    let file = Connection::open(folder.path().join("uptake.db")).unwrap();
    let sql = "SELECT count(*) FROM event_words WHERE event_words MATCH 'refund'";
    let found: i64 = file.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(found, 256);
    assert_eq!(worded(&store, "refund").await.len(), 1);
    let found: i64 = file.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(found, 300);
}

#[tokio::test]
async fn symbol_splits_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    play(&store, [asks("t1", "c1", "xⓐy"), asks("t2", "c2", "ok🅰ok")]).await;
    for words in ["xⓐy", "ok🅰ok"] {
        assert_eq!(worded(&store, words).await.len(), 1, "{words}");
    }
}

#[tokio::test]
async fn combining_accent_does_not_split_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let (one, two) = ("r\u{e9}sum\u{e9}", "re\u{301}sume\u{301}");
    play(&store, [asks("t1", "c1", one), asks("t2", "c2", two)]).await;
    for words in [one, two, "resume", "\u{301} resume"] {
        assert_eq!(worded(&store, words).await.len(), 2, "{words}");
    }
}
