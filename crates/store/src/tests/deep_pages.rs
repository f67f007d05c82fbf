//! Pages examine a bounded number of turns or messages and continue with the next.

use std::path::Path;

use model::{Reaction, Scope, Source, Window};
use rusqlite::Connection;
use serde_json::json;

use super::open;
use crate::contract::conversation_list::{asks, said};
use crate::contract::scene::{Scene, at, play};
use crate::{ListCursor, ListQuery, Store, TurnFilter, TurnMark};

/// The maximum examined per page.
const MANY: &str =
    "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)";

fn query(words: Option<&str>, behind: Option<ListCursor>) -> ListQuery {
    ListQuery {
        tenant: Scope::default().tenant,
        project: None,
        window: Window { start: at(-10), end: at(1_000_000) },
        model: None,
        prompt: None,
        user: None,
        words: words.map(str::to_owned),
        mark: TurnMark::Ok,
        filter: TurnFilter::default(),
        behind,
        limit: 10,
    }
}

/// A store with as many messages of one conversation as a page examines, after two old turns.
async fn open_long(folder: &Path) -> Store {
    let store = open(folder).unwrap();
    let good = Scene::react("good", "o", Reaction::Ok);
    play(&store, [asks("o", "old", "refund"), good, asks("l", "long", "refund").at(1)]).await;
    drop(store);
    // Inserted by SQL to save time: one per second, with the same words.
    let file = Connection::open(folder.join("uptake.db")).unwrap();
    file.execute_batch(&format!(
        "BEGIN;
         INSERT INTO turns (key, project, id, conversation, ts, opened)
             {MANY} SELECT 1000 + n, project, 'l' || n, conversation, ts + n * 1000000, opened
             FROM n, turns WHERE id = 'l';
         INSERT INTO turn_facts (turn, project, ts)
             SELECT key, project, ts FROM turns WHERE key > 1000;
         INSERT INTO events (position, project, type, source, severity, category, id, conversation,
                 turn, ts, received_at, data)
             {MANY} SELECT position + n, project, type, source, severity, category, 'l' || n,
                 conversation, 1000 + n, ts + n * 1000000, received_at, data
             FROM n, events WHERE position = 3;
         COMMIT;"
    ))
    .unwrap();
    drop(file);
    open(folder).unwrap()
}

#[tokio::test]
async fn next_page_finds_old_turns() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_long(folder.path()).await;
    for words in [None, Some("refund")] {
        let first = store.newest_conversations(query(words, None)).await.unwrap();
        assert!(first.items.is_empty(), "{words:?}: {:?}", first.items);
        assert_eq!(first.stopped_at, Some(at(2)), "{words:?}");
        let second = store.newest_conversations(query(words, first.next)).await.unwrap();
        let turns: Vec<&str> = second.items.iter().map(|item| item.shown.turn.as_str()).collect();
        assert_eq!((turns, second.next, second.stopped_at), (vec!["o"], None, None), "{words:?}");
    }
}

#[tokio::test]
async fn page_after_a_stop_repeats_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_long(folder.path()).await;
    let good = Scene::react("good-n", "n", Reaction::Ok);
    let remark = Scene::react("remark", "o", Reaction::Ok);
    let remark = said(remark, Source::UserComment, &json!({"comment": "refund"}));
    let messages = [asks("n", "old", "refund"), good, remark];
    play(&store, messages.map(|scene| scene.at(40_000))).await;
    for words in [None, Some("refund")] {
        let first = store.newest_conversations(query(words, None)).await.unwrap();
        let shown: Vec<_> = first.items.iter().map(|item| item.shown.turn.as_str()).collect();
        assert_eq!(shown.len(), 1, "{words:?}: {shown:?}");
        let second = store.newest_conversations(query(words, first.next)).await.unwrap();
        assert_eq!((second.items.len(), second.next), (0, None), "{words:?}");
    }
    let first = store.newest_turns(query(Some("refund"), None)).await.unwrap();
    assert_eq!(first.items.len(), 2);
    let second = store.newest_turns(query(Some("refund"), first.next)).await.unwrap();
    assert_eq!((second.items.len(), second.next), (0, None));
}
