//! Contract of turn queries.

use model::{Outcome, Reaction, Scope, Tenant};

use crate::contract::scene::{Scene, at, conversation_id, play, turn_id, user_id};
use crate::{Store, TurnHead};

pub(crate) async fn turn_exists_from_its_opening(store: &Store) {
    let (scope, turn) = (Scope::default(), turn_id("t1"));
    play(store, [Scene::react("early", "t1", model::Reaction::Ok)]).await;
    assert_eq!(store.turn_head(&scope, &turn).await.unwrap(), None);
    play(store, [Scene::open("t1", "c1").at(5)]).await;
    let mut expected = TurnHead {
        turn: turn.clone(),
        conversation: Some(conversation_id("c1")),
        user: Some(user_id("u1")),
        ts: at(5),
        received_at: model::Timestamp::from_micros(1_800_000_000_000_001),
        erased: false,
        completed: false,
        derived: false,
    };
    assert_eq!(store.turn_head(&scope, &turn).await.unwrap(), Some(expected.clone()));
    play(store, [Scene::answer("t1")]).await;
    expected.completed = true;
    assert_eq!(store.turn_head(&scope, &turn).await.unwrap(), Some(expected));
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    assert_eq!(store.turn_head(&other, &turn).await.unwrap(), None);
}

pub(crate) async fn turns_include_their_events(store: &Store) {
    let scope = Scope::default();
    let early = Scene::react("early", "t1", model::Reaction::Ok);
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

pub(crate) async fn long_turn_keeps_question_and_answer(store: &Store) {
    let scope = Scope::default();
    play(store, [Scene::open("t1", "c1"), Scene::answer("t1")]).await;
    let about = |n: usize| {
        let id = format!("e{n}");
        let mut write = testkit::write(&scope, &id, 1);
        testkit::edit_event(&mut write.entry.event, |event| event.turn = Some(turn_id("t1")));
        write
    };
    store.commit((0..1001).map(about).collect()).await.unwrap();
    let found = store.turns(&scope, vec![turn_id("t1")]).await.unwrap().remove(0);
    let ids: Vec<&str> = found.events.iter().map(|stored| stored.event.id.as_str()).collect();
    assert_eq!(ids.len(), 1002);
    assert_eq!((&ids[..3], ids[1001]), (&["open-t1", "done-t1", "e1"][..], "e1000"));
}

pub(crate) async fn known_and_unknown_turns_open_together(store: &Store) {
    play(store, [Scene::react("r1", "t1", Reaction::Ok)]).await;
    let opened = ["t1", "t2", "t3"].map(|turn| Scene::open(turn, "c1").write());
    let outcomes = store.commit(opened.to_vec()).await.unwrap();
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Stored(_))), "{outcomes:?}");
    for turn in ["t1", "t2", "t3"] {
        let head = store.turn_head(&Scope::default(), &turn_id(turn)).await.unwrap();
        assert!(head.is_some_and(|head| head.conversation.is_some()), "{turn}");
    }
}
