//! Contract of the log.

use model::{Claim, ClaimSpace, EventId, Mac, Outcome, Position, Scope, Tenant};
use testkit::write;

use crate::{Store, StoreError};

fn replayed(position: u64, id: &str) -> Outcome {
    Outcome::Replayed { position: Position(position), id: EventId::new(id).unwrap() }
}

/// Positions start at one, also after rejected writes.
pub(crate) async fn positions_have_no_gaps(store: &Store) {
    let scope = Scope::default();
    let one = store.commit(vec![write(&scope, "a", 1)]).await.unwrap();
    let rest = vec![write(&scope, "a", 2), write(&scope, "b", 1)];
    let two = store.commit(rest).await.unwrap();
    assert_eq!(one, [Outcome::Stored(Position(1))]);
    assert_eq!(two, [Outcome::Conflict(ClaimSpace::Event), Outcome::Stored(Position(2))]);
    assert_eq!(store.head(), Position(2));
}

/// The same id and body is a repeat; another body is a conflict. Holds within a group and across
/// groups.
pub(crate) async fn id_is_used_once(store: &Store) {
    let scope = Scope::default();
    let group = [("a", 1), ("a", 1), ("a", 2)];
    let group = group.map(|(id, body)| write(&scope, id, body)).to_vec();
    let first = store.commit(group.clone()).await.unwrap();
    let conflict = Outcome::Conflict(ClaimSpace::Event);
    assert_eq!(first, [Outcome::Stored(Position(1)), replayed(1, "a"), conflict.clone()]);
    let second = store.commit(group).await.unwrap();
    assert_eq!(second, [replayed(1, "a"), replayed(1, "a"), conflict]);
    assert_eq!(store.head(), Position(1));
}

pub(crate) async fn ids_are_per_scope(store: &Store) {
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let writes = vec![write(&Scope::default(), "a", 1), write(&other, "a", 2)];
    let outcomes = store.commit(writes).await.unwrap();
    assert_eq!(outcomes, [Outcome::Stored(Position(1)), Outcome::Stored(Position(2))]);
}

pub(crate) async fn request_key_returns_its_first_event(store: &Store) {
    let scope = Scope::default();
    let keyed = |id: &str, body: u8| {
        let mut keyed = write(&scope, id, body);
        let mac = Some(Mac([body; 16]));
        keyed.claims.push(Claim { space: ClaimSpace::RequestKey, id: "k".into(), mac });
        keyed
    };
    let outcomes = store.commit(vec![keyed("a", 1), keyed("b", 1), keyed("c", 2)]).await.unwrap();
    let conflict = Outcome::Conflict(ClaimSpace::RequestKey);
    assert_eq!(outcomes, [Outcome::Stored(Position(1)), replayed(1, "a"), conflict]);
    let fresh = store.commit(vec![write(&scope, "b", 9)]).await.unwrap();
    assert_eq!(fresh, [Outcome::Stored(Position(2))], "a repeat must not use up its own id");
}

pub(crate) async fn concurrent_commits_are_all_stored(store: &Store) {
    let scope = Scope::default();
    let commits: Vec<_> =
        (0..200).map(|n| store.commit(vec![write(&scope, &format!("e{n}"), 1)])).collect();
    let mut positions = Vec::new();
    for commit in commits {
        match commit.await.unwrap().as_slice() {
            [Outcome::Stored(position)] => positions.push(position.0),
            other => panic!("not stored: {other:?}"),
        }
    }
    positions.sort_unstable();
    assert_eq!(positions, (1..=200).collect::<Vec<_>>());
}

pub(crate) async fn closed_store_rejects_writes(store: &Store) {
    let scope = Scope::default();
    store.commit(vec![write(&scope, "a", 1)]).await.unwrap();
    store.close().await.unwrap();
    let late = store.commit(vec![write(&scope, "b", 1)]).await;
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
}

pub(crate) async fn stats_report_queue_and_commits(store: &Store) {
    let scope = Scope::default();
    assert!(store.is_ready().await.unwrap() && !store.is_stale().await.unwrap());
    for ids in [&["a"][..], &["b", "c", "d"]] {
        store.commit(ids.iter().map(|id| write(&scope, id, 1)).collect()).await.unwrap();
    }
    let stats = store.stats();
    assert_eq!((stats.commit_writes.count, stats.commit_writes.sum), (2, 4.0));
    assert_eq!((stats.commit_seconds.count, stats.failed_commits), (2, 0));
    assert_eq!((stats.queued_writes, stats.queued_bytes), (0, 0));
    assert!(store.is_ready().await.unwrap() && !store.watch_peers().borrow().went_back);
}
