//! What every backend must keep for the mirror.

use event::{Position, Scope};

use super::scene::{Scene, play, turn_id};
use crate::{Store, TurnLogCopy};

/// Copies and position are kept together; the newest copy counts.
pub(crate) async fn copies_are_kept_with_how_far_they_came(store: &dyn Store) {
    let scope = Scope::default();
    let copy = |document: &str| TurnLogCopy {
        scope: Scope::default(),
        turn: turn_id("t1"),
        hosted_uri: format!("uri:{document}"),
        document: Some(document.to_owned()),
    };
    assert_eq!(store.mirrored_to("a").await.unwrap(), Position(0));
    play(store, [Scene::open("t1", "c1")]).await;
    assert_eq!(store.copy_of(&scope, &turn_id("t1")).await.unwrap(), None);
    for (n, document) in [(1, "old"), (2, "new")] {
        store.note_copies("a", vec![copy(document)], Position(n)).await.unwrap();
    }
    assert_eq!(store.mirrored_to("a").await.unwrap(), Position(2));
    assert_eq!(store.mirrored_to("b").await.unwrap(), Position(0), "another place starts anew");
    assert_eq!(store.copy_of(&scope, &turn_id("t1")).await.unwrap(), Some(copy("new")));
    let turn = store.turns(&scope, vec![turn_id("t1")]).await.unwrap().remove(0);
    assert_eq!(turn.hosted_uri.as_deref(), Some("uri:new"));
    store.forget_copies().await.unwrap();
    assert_eq!(store.copy_of(&scope, &turn_id("t1")).await.unwrap(), None);
    assert_eq!(store.mirrored_to("a").await.unwrap(), Position(0));
}
