//! Turn-log copies and their progress.

use std::time::Duration;

use model::{Change, Position, Project, Reaction, Scope, Timestamp};

use crate::contract::scene::{Scene, play, turn_id, user_id};
use crate::{DueCopy, Store, TurnLogCopy};

fn due(turn: &str, erased: u64) -> DueCopy {
    DueCopy { scope: Scope::default(), turn: turn_id(turn), erased: Position(erased) }
}

pub(crate) async fn copies_and_progress_are_stored_together(store: &Store) {
    let scope = Scope::default();
    let copy = |document: &str| TurnLogCopy {
        scope: Scope::default(),
        turn: turn_id("t1"),
        hosted_uri: format!("uri:{document}"),
        document: Some(document.to_owned()),
    };
    assert_eq!(store.mirror_position("a").await.unwrap(), Position(0));
    play(store, [Scene::open("t1", "c1")]).await;
    assert_eq!(store.find_copy(&scope, &turn_id("t1")).await.unwrap(), None);
    for (n, document) in [(1, "old"), (2, "new")] {
        store.note_copies("a", vec![copy(document)], Position(n), None).await.unwrap();
    }
    assert_eq!(store.mirror_position("a").await.unwrap(), Position(2));
    assert_eq!(store.mirror_position("b").await.unwrap(), Position(0), "another place starts anew");
    assert_eq!(store.find_copy(&scope, &turn_id("t1")).await.unwrap(), Some(copy("new")));
    let turn = store.turns(&scope, vec![turn_id("t1")]).await.unwrap().remove(0);
    assert_eq!(turn.hosted_uri.as_deref(), Some("uri:new"));
    store.forget_copies().await.unwrap();
    assert_eq!(store.find_copy(&scope, &turn_id("t1")).await.unwrap(), None);
    assert_eq!(store.mirror_position("a").await.unwrap(), Position(0));
}

pub(crate) async fn erased_users_copies_are_due_until_settled(store: &Store) {
    let scope = Scope::default();
    let copy = |turn: &str| TurnLogCopy {
        scope: Scope::default(),
        turn: turn_id(turn),
        hosted_uri: "uri".into(),
        document: None,
    };
    play(store, [Scene::open("t1", "c1"), Scene::open("t2", "c1").by("u2")]).await;
    play(store, [Scene::react("r1", "t2", Reaction::Ok).by("u1")]).await;
    play(store, [Scene::open("t3", "c1").by("u2")]).await;
    let copies = ["t1", "t2", "t3"].map(copy).to_vec();
    store.note_copies("a", copies, Position(4), None).await.unwrap();
    assert_eq!(store.copies_due(None, 9).await.unwrap(), []);
    let mut erasure = Scene::new("erasure", "t1", Change::EraseUser(user_id("u1")));
    erasure.event.turn = None;
    play(store, [erasure]).await;
    let due = |turn: &str| due(turn, 5);
    assert_eq!(store.copies_due(Some(scope.clone()), 9).await.unwrap(), [due("t1"), due("t2")]);
    assert_eq!(store.copies_due(None, 1).await.unwrap(), [due("t1")]);
    let other = Scope { project: Project::new("other").unwrap(), ..scope.clone() };
    assert_eq!(store.copies_due(Some(other), 9).await.unwrap(), []);
    // A copy made meanwhile settles nothing.
    store.note_copies("a", vec![copy("t1")], Position(5), None).await.unwrap();
    assert_eq!(store.copies_due(None, 1).await.unwrap(), [due("t1")]);
    store.settle_copies(vec![due("t1"), due("t2")], vec![copy("t2")], None).await.unwrap();
    assert_eq!(store.copies_due(None, 9).await.unwrap(), []);
    assert_eq!(store.find_copy(&scope, &turn_id("t1")).await.unwrap(), None);
    assert_eq!(store.find_copy(&scope, &turn_id("t2")).await.unwrap(), Some(copy("t2")));
}

/// A copy made before another user of the turn was erased settles nothing and is not stored.
pub(crate) async fn copies_stay_due_after_another_erasure(store: &Store) {
    let scope = Scope::default();
    let erase = |user: &str| {
        let change = Change::EraseUser(user_id(user));
        let mut erasure = Scene::new(&format!("erase-{user}"), "t1", change);
        erasure.event.turn = None;
        erasure
    };
    let copy = |document: &str| TurnLogCopy {
        scope: Scope::default(),
        turn: turn_id("t1"),
        hosted_uri: "uri".into(),
        document: Some(document.to_owned()),
    };
    play(store, [Scene::open("t1", "c1"), Scene::react("r1", "t1", Reaction::Ok).by("u2")]).await;
    play(store, [erase("u1")]).await;
    let first = store.copies_due(None, 9).await.unwrap();
    assert_eq!(first, [due("t1", 3)]);
    play(store, [erase("u2")]).await;
    store.settle_copies(first, vec![copy("what u2 said")], None).await.unwrap();
    assert_eq!(store.find_copy(&scope, &turn_id("t1")).await.unwrap(), None);
    let second = store.copies_due(None, 9).await.unwrap();
    assert_eq!(second, [due("t1", 4)]);
    store.settle_copies(second, vec![copy("nothing")], None).await.unwrap();
    assert_eq!(store.copies_due(None, 9).await.unwrap(), []);
    assert_eq!(store.find_copy(&scope, &turn_id("t1")).await.unwrap(), Some(copy("nothing")));
}

pub(crate) async fn copies_under_an_expired_lease_are_due(store: &Store) {
    let scope = Scope::default();
    let copy = |turn: &str| TurnLogCopy {
        scope: Scope::default(),
        turn: turn_id(turn),
        hosted_uri: "uri".into(),
        document: None,
    };
    let due = |turn: &str| due(turn, 0);
    play(store, [Scene::open("t1", "c1"), Scene::open("t2", "c1")]).await;
    let now = Timestamp::from_micros(1);
    let old = store.acquire_lease("chores", "one", now, Duration::ZERO).await.unwrap();
    store.note_copies("a", vec![copy("t1")], Position(1), old.clone()).await.unwrap();
    assert_eq!(store.copies_due(None, 9).await.unwrap(), []);
    let now = Timestamp::from_micros(2);
    let new = store.acquire_lease("chores", "other", now, Duration::from_secs(60)).await.unwrap();
    assert!(old.is_some() && new.is_some());
    store.note_copies("a", vec![copy("t2")], Position(2), old.clone()).await.unwrap();
    assert_eq!(store.mirror_position("a").await.unwrap(), Position(1), "others go on from there");
    assert_eq!(store.find_copy(&scope, &turn_id("t2")).await.unwrap(), None);
    assert_eq!(store.copies_due(None, 9).await.unwrap(), [due("t2")]);
    store.settle_copies(vec![due("t1"), due("t2")], vec![copy("t2")], old).await.unwrap();
    assert_eq!(store.copies_due(None, 9).await.unwrap(), [due("t1"), due("t2")]);
    store.settle_copies(vec![due("t1"), due("t2")], vec![copy("t2")], new).await.unwrap();
    assert_eq!(store.copies_due(None, 9).await.unwrap(), []);
}
