//! Contract of retention.

use model::{
    Claim, ClaimSpace, Event, EventId, Mac, Opening, Outcome, Position, Project, Scope, Tenant,
    Write,
};
use testkit::claim;

use crate::Store;
use crate::contract::scene::{Scene, at, play, turn_id, user_id};

fn arrived(scope: &Scope, id: &str, secs: i64) -> Write {
    let event = Event { received_at: at(secs), ..testkit::event(scope, id) };
    Write { claims: vec![claim(id, 1)], ..Write::new(testkit::redacted(event), Vec::new()) }
}

pub(crate) async fn old_events_are_found_and_dropped(store: &Store) {
    let own = Scope::default();
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let log = [(&own, "old", -10), (&other, "theirs", -10), (&own, "new", 10), (&own, "late", -5)];
    for (scope, id, secs) in log {
        store.commit(vec![arrived(scope, id, secs)]).await.unwrap();
    }
    let old = async |scope: &Scope, upto: Option<u64>| -> Vec<u64> {
        let found = store.old_events(&scope.tenant, at(0), upto.map(Position)).await.unwrap();
        found.into_iter().map(|position| position.0).collect()
    };
    assert_eq!(old(&own, None).await, [1, 4]);
    assert_eq!(old(&own, Some(3)).await, [1]);
    assert_eq!(old(&other, None).await, [2]);
    let nobody = Scope { tenant: Tenant::new("nobody").unwrap(), ..Scope::default() };
    assert!(old(&nobody, None).await.is_empty());
    assert_eq!(store.copy_projections().await.unwrap(), Position(4));
    let gone = || vec![Position(1), Position(4)];
    assert_eq!(store.drop_events(gone()).await.unwrap(), 2);
    assert_eq!(store.drop_events(gone()).await.unwrap(), 0);
    assert!(old(&own, None).await.is_empty());
    store.commit(vec![arrived(&own, "next", 10)]).await.unwrap();
    let left = store.tail(Position(0), 9).await.unwrap();
    let left: Vec<u64> = left.iter().map(|stored| stored.position.0).collect();
    assert_eq!(left, [2, 3, 5], "no position is used twice");
}

pub(crate) async fn dropped_event_is_still_a_repeat(store: &Store) {
    let scope = Scope::default();
    let keyed = |id: &str, body: u8| {
        let mut write = arrived(&scope, id, -10);
        write.claims[0].mac = Some(Mac([body; 16]));
        let mac = write.claims[0].mac;
        write.claims.push(Claim { space: ClaimSpace::RequestKey, id: "k".into(), mac });
        write
    };
    store.commit(vec![keyed("old", 1), arrived(&scope, "new", 10)]).await.unwrap();
    store.copy_projections().await.unwrap();
    assert_eq!(store.drop_events(vec![Position(1)]).await.unwrap(), 1);
    let again = |id: &str| {
        let id = EventId::new(id).unwrap();
        Outcome::Replayed { position: Position(1), id }
    };
    let outcomes = store
        .commit(vec![arrived(&scope, "old", -10), keyed("other", 1), keyed("other", 2)])
        .await
        .unwrap();
    let conflict = Outcome::Conflict(ClaimSpace::RequestKey);
    assert_eq!(outcomes, [again("old"), again("dropped-1"), conflict]);
    assert_eq!(store.head(), Position(2));
}

pub(crate) async fn turn_survives_its_events(store: &Store) {
    let scope = Scope::default();
    play(store, [Scene::open("t1", "c1"), Scene::answer("t1")]).await;
    store.copy_projections().await.unwrap();
    assert_eq!(store.drop_events(vec![Position(1), Position(2)]).await.unwrap(), 2);
    let found = store.exchanges_by_id(&scope, vec![turn_id("t1")]).await.unwrap().remove(0);
    assert_eq!((found.opening, found.completion), (Opening::default(), None));
    assert_eq!((found.ts, found.user), (at(0), Some(user_id("u1"))));
    let head = store.turn_head(&scope, &turn_id("t1")).await.unwrap().unwrap();
    assert!(head.completed && !head.erased, "{head:?}");
}

/// Also after many newer events.
pub(crate) async fn old_events_are_found_in_batches(store: &Store) {
    let scope = Scope::default();
    let some = |name: &str, secs: i64| -> Vec<Write> {
        (0..600).map(|n| arrived(&scope, &format!("{name}{n}"), secs)).collect()
    };
    store.commit(some("new", 10)).await.unwrap();
    store.commit(some("old", -10)).await.unwrap();
    let mut parts = Vec::new();
    loop {
        let old = store.old_events(&scope.tenant, at(0), None).await.unwrap();
        if old.is_empty() {
            break;
        }
        parts.push(store.drop_events(old).await.unwrap());
    }
    assert!(parts.len() > 1 && parts.iter().sum::<usize>() == 600, "{parts:?}");
    let left = store.tail(Position(0), 2000).await.unwrap();
    assert_eq!(left.last().map(|stored| stored.position), Some(Position(600)));
}

pub(crate) async fn oldest_events_of_every_project_come_first(store: &Store) {
    let own = Scope::default();
    let second = Scope { project: Project::new("second").unwrap(), ..Scope::default() };
    let mut log: Vec<Write> = (0..600).map(|n| arrived(&own, &format!("new{n}"), 10)).collect();
    log.push(arrived(&own, "late", -10));
    log.push(arrived(&second, "old", -10));
    store.commit(log).await.unwrap();
    let old = async || store.old_events(&own.tenant, at(0), None).await.unwrap();
    assert_eq!(old().await, [Position(602)]);
    store.drop_events(vec![Position(602)]).await.unwrap();
    assert_eq!(old().await, [Position(601)]);
}
