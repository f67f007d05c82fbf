//! Contract of leases.

use std::time::Duration;

use model::{Position, Timestamp};

use crate::{Lease, Store};

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
const LONG: Duration = Duration::from_secs(3600);

async fn hold(store: &Store, holder: &str, now: Timestamp, lasts: Duration) -> Option<Lease> {
    store.acquire_lease("work", holder, now, lasts).await.unwrap()
}

pub(crate) async fn lease_has_one_holder(store: &Store) {
    let first = hold(store, "a", NOW, LONG).await.unwrap();
    assert_eq!((first.epoch, first.position), (1, Position(0)));
    assert_eq!(hold(store, "b", NOW, LONG).await, None);
    assert_eq!(hold(store, "a", NOW, LONG).await, Some(first.clone()), "renewed");
    let other = store.acquire_lease("other work", "b", NOW, LONG).await.unwrap();
    assert_eq!(other.map(|lease| lease.epoch), Some(1), "leases do not touch one another");
    store.release(&first).await.unwrap();
    let second = hold(store, "b", NOW, LONG).await.unwrap();
    assert_eq!(second.epoch, 2);
    store.release(&first).await.unwrap();
    assert_eq!(hold(store, "a", NOW, LONG).await, None, "only the holder gives it back");
    // Renewed with a lifetime that ends at once.
    assert!(hold(store, "b", NOW, Duration::ZERO).await.is_some());
    assert_eq!(hold(store, "a", NOW, LONG).await.map(|lease| lease.epoch), Some(3));
}

/// Progress never goes back.
pub(crate) async fn expired_holder_stores_no_progress(store: &Store) {
    assert_eq!(store.lease_position("work").await.unwrap(), Position(0));
    let first = hold(store, "a", NOW, Duration::ZERO).await.unwrap();
    assert!(store.advance(&first, Position(5)).await.unwrap(), "the lease is still held");
    let second = hold(store, "b", NOW, LONG).await.unwrap();
    assert_eq!(second.position, Position(5));
    assert!(!store.advance(&first, Position(9)).await.unwrap());
    assert_eq!(store.lease_position("work").await.unwrap(), Position(5));
    assert!(store.advance(&second, Position(6)).await.unwrap());
    assert!(!store.advance(&second, Position(4)).await.unwrap());
    assert_eq!(store.lease_position("work").await.unwrap(), Position(6));
    // A node that acquires the lease again gets a new token.
    store.release(&second).await.unwrap();
    let third = hold(store, "a", NOW, LONG).await.unwrap();
    assert_eq!((third.epoch, third.position), (3, Position(6)));
    assert!(!store.advance(&first, Position(7)).await.unwrap());
}
