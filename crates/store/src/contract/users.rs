//! Erasure and dead letters.

use model::{
    Change, Claim, ClaimSpace, Event, EventId, Mac, Outcome, Position, Reaction, Scope, Tenant,
    Write,
};
use testkit::claim;

use crate::contract::scene::{Scene, play, user_id};
use crate::{ErasedCounts, Store};

async fn put(store: &Store, event: Event, changes: Vec<Change>) -> Position {
    let claims = vec![claim(event.id.as_str(), 1)];
    let write = Write { claims, ..Write::new(testkit::redacted(event), changes) };
    match store.commit(vec![write]).await.unwrap().as_slice() {
        [Outcome::Stored(position)] => *position,
        other => panic!("not stored: {other:?}"),
    }
}

fn by(user: &str, id: &str) -> Event {
    Event { user: Some(user_id(user)), ..testkit::event(&Scope::default(), id) }
}

/// Includes other users' turns with the user's reactions.
pub(crate) async fn user_data_is_counted(store: &Store) {
    let here = Scope::default();
    let elsewhere = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    play(store, [Scene::open("t1", "c1").by("ann"), Scene::answer("t1")]).await;
    play(store, [Scene::open("t2", "c2").by("bob"), Scene::answer("t2")]).await;
    play(store, [Scene::react("own", "t1", Reaction::Ok)]).await;
    play(store, [Scene::react("on-bobs", "t2", Reaction::NotOk).by("ann")]).await;
    put(store, by("ann", "lone"), Vec::new()).await;
    let user_data = async |scope: &Scope, user: &str| {
        let (counts, turns) = store.user_data(scope, &user_id(user)).await.unwrap();
        let mut turns: Vec<String> = turns.iter().map(ToString::to_string).collect();
        turns.sort();
        (counts, turns.join(" "))
    };
    let turns_of = async |scope: &Scope, user: &str| {
        let found = store.turns_of(scope, &user_id(user)).await.unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    // The question and its answer, two reactions, and one without a turn.
    let hers = ErasedCounts { events: 5, turns: 1, reactions: 2 };
    assert_eq!(user_data(&here, "ann").await, (hers, "t1 t2".to_owned()));
    assert_eq!(turns_of(&here, "ann").await, "t1");
    let nothing = (ErasedCounts::default(), String::new());
    for (scope, user) in [(&here, "nobody"), (&elsewhere, "ann")] {
        assert_eq!(user_data(scope, user).await, nothing, "{scope:?}");
        assert_eq!(turns_of(scope, user).await, "");
    }
    let erase = vec![Change::EraseUser(user_id("ann"))];
    put(store, testkit::event(&here, "erased"), erase).await;
    assert_eq!(user_data(&here, "ann").await, nothing);
}

/// Stubs keep their ids and no text.
pub(crate) async fn erased_positions_are_returned(store: &Store) {
    for n in 0..4 {
        put(store, by("ann", &format!("ann{n}")), Vec::new()).await;
        put(store, by("bob", &format!("bob{n}")), Vec::new()).await;
    }
    let erase = vec![Change::EraseUser(user_id("ann"))];
    let erasure = put(store, testkit::event(&Scope::default(), "erased"), erase).await;
    put(store, by("ann", "ann-again"), Vec::new()).await;
    let erased = async |at| -> Vec<(String, bool)> {
        let positions = store.erased_positions(at).await.unwrap();
        let found = store.events_at(positions).await.unwrap();
        let text = |stored: &crate::StoredEvent| stored.event.body.to_fields().contains_key("text");
        found.iter().map(|stored| (stored.event.id.to_string(), text(stored))).collect()
    };
    let empty = |id: &str| (id.to_owned(), false);
    let all = ["ann0", "ann1", "ann2", "ann3"].map(empty);
    assert_eq!(erased(erasure).await, all);
    assert_eq!(erased(Position(2)).await, [], "that event is no erasure");
}

/// Also for writes in the same commit as the erasure.
pub(crate) async fn erased_id_is_always_a_repeat(store: &Store) {
    let first = put(store, by("ann", "ann1"), Vec::new()).await;
    let erase = vec![Change::EraseUser(user_id("ann"))];
    let erasure = Write::new(testkit::redacted(testkit::event(&Scope::default(), "erased")), erase);
    let group = vec![erasure, testkit::write(&Scope::default(), "ann1", 2)];
    let outcomes = store.commit(group).await.unwrap();
    let again = Outcome::Replayed { position: first, id: EventId::new("ann1").unwrap() };
    assert_eq!(outcomes[1], again);
}

pub(crate) async fn erasure_empties_many_events(store: &Store) {
    const MANY: usize = 150;
    let keyed = |event: Event, key: &str, body: u8| {
        let mac = Some(Mac([body; 16]));
        let key = Claim { space: ClaimSpace::RequestKey, id: key.to_owned(), mac };
        Write {
            claims: vec![claim(event.id.as_str(), body), key],
            ..Write::new(testkit::redacted(event), Vec::new())
        }
    };
    let hers = |n: usize, body| keyed(by("ann", &format!("ann{n}")), &format!("key{n}"), body);
    let mut group: Vec<Write> = (0..MANY).map(|n| hers(n, 1)).collect();
    group.push(keyed(by("bob", "bob"), "bobs", 1));
    store.commit(group).await.unwrap();
    let erase = vec![Change::EraseUser(user_id("ann"))];
    let erasure = put(store, testkit::event(&Scope::default(), "erased"), erase).await;
    let found = store.erased_positions(erasure).await.unwrap();
    let found = store.events_at(found).await.unwrap();
    assert_eq!(found.len(), MANY);
    assert!(found.iter().all(|stored| !stored.event.body.to_fields().contains_key("text")));
    let last = MANY - 1;
    let outcomes = store
        .commit(vec![
            keyed(by("cid", "other0"), "key0", 2),
            keyed(by("cid", "other1"), &format!("key{last}"), 2),
            keyed(by("cid", "other2"), "bobs", 2),
        ])
        .await
        .unwrap();
    let of = |n: usize| EventId::new(format!("ann{n}")).unwrap();
    let again = |n: usize| Outcome::Replayed { position: Position(n as u64 + 1), id: of(n) };
    let expected = [again(0), again(last), Outcome::Conflict(ClaimSpace::RequestKey)];
    assert_eq!(outcomes, expected, "only what is not erased is still compared");
}

pub(crate) async fn dead_letters_are_listed(store: &Store) {
    let scope = Scope { tenant: Tenant::new("new").unwrap(), ..Scope::default() };
    let write = |id: &str| {
        let user = Some(user_id("ann"));
        Write::new(testkit::redacted(Event { user, ..testkit::event(&scope, id) }), Vec::new())
    };
    for (id, reason) in [("m1", "first"), ("m2", "second"), ("m1", "again")] {
        store.set_aside(write(id), reason.to_owned()).await.unwrap();
    }
    let listed = async |scope: &Scope| -> Vec<(String, String)> {
        let found = store.dead_letters(scope, 0, 10).await.unwrap();
        found.into_iter().map(|letter| (letter.id, letter.reason)).collect()
    };
    let pair = |id: &str, reason: &str| (id.to_owned(), reason.to_owned());
    assert_eq!(listed(&scope).await, [pair("m1", "again"), pair("m2", "second")]);
    assert_eq!(listed(&Scope::default()).await, []);
    let letter = store.dead_letter(&scope, "m2").await.unwrap().unwrap();
    assert_eq!(letter.write, write("m2"));
    store.drop_dead_letter(&scope, "m2").await.unwrap();
    assert_eq!(listed(&scope).await, [pair("m1", "again")]);
    // The user has nothing but a dead letter.
    let erase = vec![Change::EraseUser(user_id("ann"))];
    put(store, testkit::event(&scope, "erased"), erase).await;
    assert_eq!(listed(&scope).await, []);
}

/// A message that is not UTF-8 is stored as received.
pub(crate) async fn dead_letters_do_not_block_erasure(store: &Store) {
    let scope = Scope::default();
    let message = |user: Option<&str>, id: &str| {
        let mut event = Event { user: user.map(user_id), ..testkit::event(&scope, id) };
        event.body = testkit::other_body(&serde_json::json!({"message": "\0\\u0000 and \0"}));
        Write::new(testkit::redacted(event), Vec::new())
    };
    for (user, id) in [(None, "bytes"), (Some("ann"), "hers"), (Some("bob"), "his")] {
        store.set_aside(message(user, id), "no event".to_owned()).await.unwrap();
    }
    put(store, by("ann", "ann1"), Vec::new()).await;
    let erase = vec![Change::EraseUser(user_id("ann"))];
    put(store, testkit::event(&scope, "erased"), erase).await;
    let left = store.dead_letters(&scope, 0, 10).await.unwrap();
    let left: Vec<Write> = left.into_iter().map(|letter| letter.write).collect();
    assert_eq!(left, [message(None, "bytes"), message(Some("bob"), "his")]);
}
