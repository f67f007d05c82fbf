//! Removal of a tenant.

use model::{Event, Outcome, Position, Scope, Tenant, Write};
use testkit::claim;

use crate::Store;
use crate::contract::scene::{conversation_id, turn_id, user_id};

async fn put(store: &Store, scope: &Scope, id: &str) -> Position {
    let event = Event {
        user: Some(user_id("ann")),
        conversation: Some(conversation_id("c1")),
        turn: Some(turn_id("t1")),
        ..testkit::event(scope, id)
    };
    let write =
        Write { claims: vec![claim(id, 1)], ..Write::new(testkit::redacted(event), Vec::new()) };
    match store.commit(vec![write]).await.unwrap().as_slice() {
        [Outcome::Stored(position)] => *position,
        other => panic!("not stored: {other:?}"),
    }
}

/// Neighbours stay, and no position is reused.
pub(crate) async fn tenant_removal_is_complete_and_isolated(store: &Store) {
    let own = Scope::default();
    let demo = Scope { tenant: Tenant::new("demo").unwrap(), ..Scope::default() };
    put(store, &own, "e1").await;
    put(store, &demo, "e1").await;
    let letter = Write::new(testkit::redacted(testkit::event(&demo, "garbled")), Vec::new());
    store.set_aside(letter, "unreadable".to_owned()).await.unwrap();
    let last = put(store, &demo, "e2").await;
    assert_eq!(store.remove_tenant(&demo.tenant).await.unwrap(), 2);
    assert_eq!(store.remove_tenant(&demo.tenant).await.unwrap(), 0);
    assert_eq!(store.scopes().await.unwrap(), std::slice::from_ref(&own));
    assert_eq!(store.dead_letters(&demo, 0, 9).await.unwrap().len(), 0);
    let left = store.tail(Position(0), 9).await.unwrap();
    let left: Vec<(&Scope, &str)> =
        left.iter().map(|stored| (&stored.event.scope, stored.event.id.as_str())).collect();
    assert_eq!(left, [(&own, "e1")]);
    // Its ids are free, and new events follow the removed ones.
    assert!(put(store, &demo, "e1").await > last);
    assert!(put(store, &own, "e2").await > last);
}
