//! What those who learn keep.

use event::{Change, Position, Scope, Tenant, Timestamp};

use super::scene::{Scene, play, turn_id};
use crate::{RouterCheckpoint, RouterScope, RouterTurn, Store, StoredRouter};

fn checkpoint(position: u64, state: u8) -> RouterCheckpoint {
    let router = |name: &str| StoredRouter {
        name: name.into(),
        definition: "{}".into(),
        state: vec![state; 3],
    };
    RouterCheckpoint { position: Position(position), routers: vec![router("a"), router("b")] }
}

fn turn(id: &str, router: Option<&str>, ts: i64, record: &str) -> RouterTurn {
    RouterTurn {
        turn: turn_id(id),
        router: router.map(str::to_owned),
        ts: Timestamp::from_micros(ts),
        record: record.into(),
        features: record.as_bytes()[..2].to_vec(),
    }
}

/// A project's routers come back as they were kept, with their turns, and to nobody else.
pub(crate) async fn what_routers_learnt_is_kept_whole(store: &dyn Store) {
    let scope = Scope::default();
    assert!(store.router_scopes().await.unwrap().is_empty());
    play(store, ["t1", "t2", "t3"].map(|turn| Scene::open(turn, "c1"))).await;
    for (id, arms) in [("set", 1), ("set-again", 2)] {
        let definition = [("arms".to_owned(), arms.into())].into_iter().collect();
        let change = Change::SetRouter { name: "a".into(), definition };
        play(store, [Scene::new(id, "t1", change)]).await;
    }
    let expected = RouterScope {
        scope: scope.clone(),
        since: Position(4),
        definitions: vec![("a".into(), "{\"arms\":2}".into())],
    };
    assert_eq!(store.router_scopes().await.unwrap(), [expected], "since the first of them");
    assert_eq!(store.router_checkpoint(&scope).await.unwrap(), None);
    let turns = vec![
        turn("t1", Some("a"), 10, "one"),
        turn("t2", Some("a"), 20, "two"),
        turn("t3", None, 0, "three"),
    ];
    store.save_routers(&scope, checkpoint(4, 1), turns).await.unwrap();
    let changed = vec![turn("t1", Some("a"), 10, "one more")];
    store.save_routers(&scope, checkpoint(5, 2), changed).await.unwrap();
    assert_eq!(store.router_checkpoint(&scope).await.unwrap(), Some(checkpoint(5, 2)));
    let record = async |id: &str| {
        let found = store.router_turn(&scope, &turn_id(id)).await.unwrap();
        found
            .inspect(|(record, features)| assert_eq!(&record.as_bytes()[..2], features))
            .map(|(r, _)| r)
    };
    assert_eq!(record("t1").await.as_deref(), Some("one more"));
    assert_eq!(record("t3").await.as_deref(), Some("three"));
    assert_eq!(record("t4").await, None);
    let served = async |since: i64, passed: usize, limit: usize| -> Vec<String> {
        let since = Timestamp::from_micros(since);
        let found = store.router_turns(&scope, "a", since, passed, limit).await.unwrap();
        found.into_iter().map(|turn| turn.record).collect()
    };
    assert_eq!(served(0, 0, 9).await, ["two", "one more"]);
    assert_eq!(served(0, 1, 9).await, ["one more"]);
    assert_eq!(served(15, 0, 9).await, ["two"]);
    assert_eq!(served(0, 0, 1).await, ["two"]);
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    assert_eq!(store.router_checkpoint(&other).await.unwrap(), None);
    assert_eq!(store.router_turn(&other, &turn_id("t1")).await.unwrap(), None);
    store.forget_routers(&other).await.unwrap();
    assert!(store.router_checkpoint(&scope).await.unwrap().is_some());
    store.forget_routers(&scope).await.unwrap();
    assert_eq!(store.router_checkpoint(&scope).await.unwrap(), None);
    assert_eq!(record("t1").await, None);
}
