//! Checkpoints of routers.

use model::{Change, Position, Scope, SettingsChange, Tenant, Timestamp};

use crate::contract::scene::{Scene, play, turn_id};
use crate::{
    CheckpointVersion, Keeping, NextCheckpoint, RouterCheckpoint, RouterScope, RouterTurn, Store,
    StoredRouter,
};

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

fn kept(version: u64, forgets: u64, position: u64) -> CheckpointVersion {
    CheckpointVersion { version, forgets, position: Some(Position(position)) }
}

fn state(from: u64, forgets: bool, position: u64, turns: Vec<RouterTurn>) -> NextCheckpoint {
    NextCheckpoint { from, forgets, checkpoint: checkpoint(position, from as u8 + 1), turns }
}

async fn save(store: &Store, state: NextCheckpoint) -> Keeping {
    store.save_routers(&Scope::default(), state).await.unwrap()
}

pub(crate) async fn stale_router_checkpoint_is_rejected(store: &Store) {
    let scope = Scope::default();
    play(store, [Scene::open("t1", "c1")]).await;
    let first = vec![turn("t1", Some("a"), 10, "one")];
    assert_eq!(save(store, state(0, false, 4, first)).await, Keeping::Kept(kept(1, 0, 4)));
    assert_eq!(save(store, state(1, true, 5, Vec::new())).await, Keeping::Kept(kept(2, 1, 5)));
    for from in [1, 0] {
        let late = state(from, false, 9, vec![turn("t1", Some("a"), 10, "too late")]);
        assert_eq!(save(store, late).await, Keeping::Moved(kept(2, 1, 5)));
    }
    let (at, turn) = store.router_turn(&scope, &turn_id("t1")).await.unwrap();
    assert_eq!((at, turn.unwrap().record.as_str()), (kept(2, 1, 5), "one"));
    let latest = (kept(2, 1, 5), Some(checkpoint(5, 2)));
    store.forget_routers(&scope, 1).await.unwrap();
    assert_eq!(store.router_checkpoint(&scope).await.unwrap(), latest, "1 is not the latest");
    store.forget_routers(&scope, 2).await.unwrap();
    let forgotten = CheckpointVersion { version: 3, forgets: 2, position: None };
    assert_eq!(store.router_checkpoint(&scope).await.unwrap(), (forgotten, None));
    assert_eq!(store.router_turn(&scope, &turn_id("t1")).await.unwrap(), (forgotten, None));
    let late = state(2, false, 6, Vec::new());
    assert_eq!(save(store, late).await, Keeping::Moved(forgotten));
    assert_eq!(save(store, state(3, false, 6, Vec::new())).await, Keeping::Kept(kept(4, 2, 6)));
}

pub(crate) async fn router_checkpoint_round_trips(store: &Store) {
    let scope = Scope::default();
    assert!(store.router_scopes().await.unwrap().is_empty());
    play(store, ["t1", "t2", "t3"].map(|turn| Scene::open(turn, "c1"))).await;
    for (id, arms) in [("set", 1), ("set-again", 2)] {
        let definition = [("arms".to_owned(), arms.into())].into_iter().collect();
        let change = Change::Settings(SettingsChange::Router { name: "a".into(), definition });
        play(store, [Scene::new(id, "t1", change)]).await;
    }
    let expected = RouterScope {
        scope: scope.clone(),
        since: Position(4),
        definitions: vec![("a".into(), "{\"arms\":2}".into())],
    };
    assert_eq!(store.router_scopes().await.unwrap(), [expected], "since the first of them");
    assert_eq!(
        store.router_checkpoint(&scope).await.unwrap(),
        (CheckpointVersion::default(), None)
    );
    let turns = vec![
        turn("t1", Some("a"), 10, "one"),
        turn("t2", Some("a"), 20, "two"),
        turn("t3", None, 0, "three"),
    ];
    save(store, state(0, false, 4, turns)).await;
    let changed = vec![turn("t1", Some("a"), 10, "one more")];
    save(store, state(1, false, 5, changed)).await;
    let latest = (kept(2, 0, 5), Some(checkpoint(5, 2)));
    assert_eq!(store.router_checkpoint(&scope).await.unwrap(), latest);
    let record = async |id: &str| {
        let (_, found) = store.router_turn(&scope, &turn_id(id)).await.unwrap();
        found
            .inspect(|turn| assert_eq!(&turn.record.as_bytes()[..2], turn.features))
            .map(|turn| turn.record)
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
    assert_eq!(
        store.router_checkpoint(&other).await.unwrap(),
        (CheckpointVersion::default(), None)
    );
    let nothing = (CheckpointVersion::default(), None);
    assert_eq!(store.router_turn(&other, &turn_id("t1")).await.unwrap(), nothing);
    store.forget_routers(&other, 2).await.unwrap();
    assert_eq!(store.router_checkpoint(&scope).await.unwrap(), latest);
}
