//! What every backend's turn reads must do.

use event::{Scope, Tenant};

use super::scene::{Scene, at, conversation_id, play, turn_id, user_id};
use crate::{Store, TurnHead};

/// Opened, then completed; unknown before, and unknown to others.
pub(crate) async fn a_turn_is_known_from_its_opening_on(store: &dyn Store) {
    let (scope, turn) = (Scope::default(), turn_id("t1"));
    play(store, [Scene::react("early", "t1", event::Reaction::Ok)]).await;
    assert_eq!(store.turn_head(&scope, &turn).await.unwrap(), None);
    play(store, [Scene::open("t1", "c1").at(5)]).await;
    let mut expected = TurnHead {
        turn: turn.clone(),
        conversation: Some(conversation_id("c1")),
        user: Some(user_id("u1")),
        ts: at(5),
        received_at: event::Timestamp::from_micros(1_800_000_000_000_001),
        erased: false,
        completed: false,
    };
    assert_eq!(store.turn_head(&scope, &turn).await.unwrap(), Some(expected.clone()));
    play(store, [Scene::answer("t1")]).await;
    expected.completed = true;
    assert_eq!(store.turn_head(&scope, &turn).await.unwrap(), Some(expected));
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    assert_eq!(store.turn_head(&other, &turn).await.unwrap(), None);
}

/// Everything that names it, in order, in the order asked for; unknown ones left out.
pub(crate) async fn turns_come_with_what_happened_to_them(store: &dyn Store) {
    let scope = Scope::default();
    let early = Scene::react("early", "t1", event::Reaction::Ok);
    play(store, [early, Scene::open("t2", "c1"), Scene::open("t1", "c1")]).await;
    let asked = ["t1", "unknown", "t2"].map(turn_id).to_vec();
    let found = store.turns(&scope, asked).await.unwrap();
    let shown: Vec<(&str, Vec<&str>)> = found
        .iter()
        .map(|turn| {
            let events = turn.events.iter().map(|stored| stored.event.id.as_str()).collect();
            (turn.head.turn.as_str(), events)
        })
        .collect();
    assert_eq!(shown, [("t1", vec!["early", "open-t1"]), ("t2", vec!["open-t2"])]);
}
