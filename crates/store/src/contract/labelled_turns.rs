//! Contract of labelled turns.

use model::{
    Change, Event, Kind, LooseFact, Origin, Position, Reaction, Scope, Source, Tenant, TurnChange,
    TurnFact, Type, UnitInterval, Vector, VerdictStatus, Write,
};
use serde_json::{Value, json};
use testkit::claim;

use crate::contract::scene::{Scene, conversation_id, play, turn_id, user_id};
use crate::{Changed, ConversationCursor, LabelledTurnReads, Store, TurnNumber};

fn other() -> Scope {
    Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() }
}

/// A correction, of a turn or without one.
async fn correct(store: &Store, id: &str, turn: Option<&str>, data: &Value) {
    let event = Event {
        kind: Kind { event_type: Type::Explicit, source: Source::UserCorrection },
        turn: turn.map(turn_id),
        body: testkit::other_body(data),
        ..testkit::event(&Scope::default(), id)
    };
    let changes =
        turn.map(|_| Change::Turn(TurnChange::Note(TurnFact::Corrected))).into_iter().collect();
    let write =
        Write { claims: vec![claim(id, 1)], ..Write::new(testkit::redacted(event), changes) };
    store.commit(vec![write]).await.unwrap();
}

/// A reaction as an event of its own kind, visible to followers of the log.
fn react(id: &str, turn: &str, reaction: Reaction) -> Scene {
    let mut scene = Scene::react(id, turn, reaction);
    scene.event.kind = Kind { event_type: Type::Explicit, source: Source::Reaction };
    scene
}

async fn changed(store: &Store, after: Position) -> Changed {
    store.changed(&Scope::default(), after, 100).await.unwrap()
}

pub(crate) async fn labelled_turn_includes_its_signals(store: &Store) {
    for turn in ["t1", "t2", "t3"] {
        play(store, [Scene::open(turn, "c1"), Scene::answer(turn)]).await;
    }
    play(store, [Scene::judge("t1", "t2", VerdictStatus::Rejected, false)]).await;
    play(store, [react("good", "t2", Reaction::Ok)]).await;
    correct(store, "fix", Some("t1"), &json!({"corrected": "That.", "explanation": "so"})).await;
    correct(store, "lone", None, &json!({"corrected": "Alone.", "query": "Who?"})).await;
    let scope = Scope::default();
    let good = store.accepted(&scope, None, 10).await.unwrap();
    assert_eq!(good.len(), 1, "{good:?}");
    let (number, rating) = (good[0].number, good[0].rating.unwrap());
    assert_eq!((good[0].question.as_str(), good[0].answer.as_str()), ("What now?", "This."));
    assert_eq!((rating.value, rating.confidence), (UnitInterval::ONE, UnitInterval::ONE));
    assert!(store.accepted(&scope, Some(number), 10).await.unwrap().is_empty());
    let found = store.corrections(&scope, None, 10).await.unwrap();
    assert_eq!((found.loose.len(), found.next), (1, None));
    assert_eq!(found.loose[0].query.as_deref(), Some("Who?"));
    let page = store.corrections(&scope, None, 1).await.unwrap();
    assert_eq!(page.next, Some(page.loose[0].position), "the newest first");
    let rest = store.corrections(&scope, page.next, 10).await.unwrap();
    assert_eq!(rest.turns, found.turns);
    let bad = store.judged(found.turns).await.unwrap().pop().unwrap();
    let said = bad.verdict.unwrap();
    assert_eq!((bad.status, said.status), (VerdictStatus::Rejected, VerdictStatus::Rejected));
    assert_eq!(bad.corrections[0].corrected, "That.");
    assert_eq!(bad.corrections[0].explanation.as_deref(), Some("so"));
    let there = store.loose(&scope, vec![found.loose[0].position]).await.unwrap();
    assert_eq!(there, found.loose);
    assert!(store.loose(&other(), vec![found.loose[0].position]).await.unwrap().is_empty());
    assert!(store.accepted(&other(), None, 10).await.unwrap().is_empty());
    assert!(store.corrections(&other(), None, 10).await.unwrap().loose.is_empty());
}

pub(crate) async fn touched_turns_are_returned(store: &Store) {
    for turn in ["t1", "t2"] {
        play(store, [Scene::open(turn, "c1"), Scene::answer(turn)]).await;
    }
    let start = changed(store, Position(0)).await.upto;
    assert_eq!(start, store.head());
    play(store, [react("good", "t1", Reaction::Ok)]).await;
    let first = changed(store, start).await;
    assert_eq!(first.turns.len(), 1);
    assert!(first.turns[0].0 == turn_id("t1") && first.turns[0].1.is_some(), "{first:?}");
    play(store, [react("bad", "t1", Reaction::NotOk)]).await;
    let second = changed(store, first.upto).await;
    assert_eq!(second.turns, [(turn_id("t1"), None)], "no longer accepted");
    correct(store, "early", Some("unknown"), &json!({"corrected": "a", "query": "q"})).await;
    correct(store, "lone", None, &json!({"corrected": "b"})).await;
    let third = changed(store, second.upto).await;
    assert_eq!(third.turns, [(turn_id("unknown"), None)]);
    assert_eq!(third.loose.len(), 2, "{third:?}");
    assert_eq!(changed(store, third.upto).await.turns, []);
    let page = store.changed(&Scope::default(), start, 1).await.unwrap();
    assert!(page.more && page.upto < third.upto, "{page:?}");
    let theirs = store.changed(&other(), Position(0), 100).await.unwrap();
    assert_eq!((theirs.turns, theirs.upto), (Vec::new(), store.head()));
}

fn of_kind(mut scene: Scene, event_type: Type, source: Source) -> Scene {
    scene.event.kind = Kind { event_type, source };
    scene
}

pub(crate) async fn erased_corrections_are_returned(store: &Store) {
    let fix = |id: &str, change: Change| {
        let scene = Scene::new(id, "t2", change).by("u1").saying(&json!({"corrected": "So."}));
        of_kind(scene, Type::Explicit, Source::UserCorrection)
    };
    let mut lone = fix("lone", Change::Count(LooseFact::Corrected));
    lone.event.turn = None;
    play(store, [Scene::open("t1", "c1"), Scene::answer("t1")]).await;
    play(store, [react("good", "t1", Reaction::Ok)]).await;
    play(store, [Scene::open("t2", "c2").by("u2"), Scene::answer("t2")]).await;
    play(store, [fix("theirs", Change::Turn(TurnChange::Note(TurnFact::Corrected))), lone]).await;
    let before = changed(store, Position(0)).await;
    assert_eq!((before.loose.len(), before.gone.len()), (1, 0));
    let mut erasure = Scene::new("erasure", "t1", Change::EraseUser(user_id("u1")));
    erasure.event.turn = None;
    play(store, [of_kind(erasure, Type::Log, Source::Engine)]).await;
    let after = changed(store, before.upto).await;
    assert_eq!(after.gone, [Position(6), Position(7)]);
    let turns: Vec<(&str, Option<&str>)> = after
        .turns
        .iter()
        .map(|(id, now)| (id.as_str(), now.as_ref().map(|now| now.question.as_str())))
        .collect();
    assert_eq!(turns, [("t1", Some("")), ("t2", None)], "accepted, and corrected no more");
    assert_eq!((after.loose.len(), after.upto), (0, Position(8)));
}

pub(crate) async fn stars_and_regenerations_are_returned(store: &Store) {
    let stars = Change::Turn(TurnChange::React {
        origin: Origin::User,
        reaction: Reaction::Ok,
        rating: UnitInterval::new(0.75).unwrap(),
        confidence: UnitInterval::ONE,
        detected_in: None,
    });
    let stars = Scene::new("stars", "t1", stars).saying(&json!({"rating": 4}));
    let again = Scene::note("again", "t1", TurnFact::GotFeedback);
    let again = again.saying(&json!({"kind": "regenerate"}));
    let vector = Change::Turn(TurnChange::SetVector(Vector::new("m".into(), vec![3.0, 4.0])));
    play(
        store,
        [
            Scene::open("t1", "c1"),
            Scene::answer("t1"),
            of_kind(stars, Type::Explicit, Source::UserRating),
            of_kind(again, Type::Interaction, Source::UserInteraction),
            Scene::new("vector", "t1", vector),
        ],
    )
    .await;
    let found = store.accepted(&Scope::default(), None, 10).await.unwrap().remove(0);
    assert_eq!(found.rating.map(|rating| rating.value), UnitInterval::new(0.75));
    assert!(found.regenerated && found.corrections.is_empty(), "{found:?}");
    let vector = found.vector.unwrap();
    assert_eq!(&**vector.model(), "m");
    assert!((vector.values()[0] - 0.6).abs() < 0.01, "{vector:?}");
}

pub(crate) async fn turn_includes_earlier_questions(store: &Store) {
    for (turn, conversation, secs) in
        [("t2", "c1", 2), ("t1", "c1", 1), ("t3", "c1", 3), ("x", "c2", 1)]
    {
        play(store, [Scene::open(turn, conversation).at(secs)]).await;
    }
    let first = ConversationCursor::default();
    let (talks, _) = store.labelled_conversations(&Scope::default(), first, 10).await.unwrap();
    let mut numbers: Vec<TurnNumber> =
        talks.iter().flat_map(|talk| &talk.turns).map(|turn| turn.number).collect();
    numbers.insert(1, TurnNumber(999_999));
    let read = async |most: usize| -> Vec<String> {
        let found = store.with_context(numbers.clone(), most).await.unwrap();
        let ids = |turns: &Vec<crate::LabelledTurn>| {
            turns.iter().map(|turn| turn.turn.as_str()).collect::<Vec<_>>().join(" ")
        };
        found.iter().map(ids).collect()
    };
    assert_eq!(read(0).await, ["t1", "t2", "t3", "x"], "one that is not there is left out");
    assert_eq!(read(1).await, ["t1", "t1 t2", "t2 t3", "x"]);
    assert_eq!(read(9).await, ["t1", "t1 t2", "t1 t2 t3", "x"]);
}

/// No part is empty.
pub(crate) async fn long_conversation_is_split(store: &Store) {
    let open = |conversation: &str, n: i64| {
        Scene::open(&format!("{conversation}{n}"), conversation).at(n).write()
    };
    let long = (0..1000).map(|n| open("a", n)).chain((0..1001).map(|n| open("b", n)));
    store.commit(long.collect()).await.unwrap();
    play(store, [Scene::open("c0", "c")]).await;
    let (mut mark, mut read) = (Some(ConversationCursor::default()), Vec::new());
    while let Some(behind) = mark {
        let scope = Scope::default();
        let (page, next) = store.labelled_conversations(&scope, behind, 9000).await.unwrap();
        for talk in page {
            let first = talk.turns.first().map(|turn| turn.turn.to_string());
            read.push((talk.id.to_string(), first, talk.turns.len()));
        }
        mark = next;
    }
    let expected = [("a", "a0", 1000), ("b", "b0", 1000), ("b", "b1000", 1), ("c", "c0", 1)];
    let expected =
        expected.map(|(id, first, turns)| (id.to_owned(), Some(first.to_owned()), turns));
    assert_eq!(read, expected);
    let gone = ConversationCursor::conversation_start(conversation_id("bb"));
    let (page, _) = store.labelled_conversations(&Scope::default(), gone, 9000).await.unwrap();
    let ids: Vec<&str> = page.iter().map(|talk| talk.id.as_str()).collect();
    assert_eq!(ids, ["c"], "a deleted conversation blocks no page");
}

pub(crate) async fn conversations_are_complete(store: &Store) {
    for (turn, conversation, secs) in
        [("b2", "b", 2), ("b1", "b", 1), ("a1", "a", 9), ("c1", "c", 0), ("c2", "c", 5)]
    {
        play(store, [Scene::open(turn, conversation).at(secs)]).await;
    }
    let scope = Scope::default();
    let (mut mark, mut read) = (Some(ConversationCursor::default()), Vec::new());
    while let Some(behind) = mark {
        let (page, next) = store.labelled_conversations(&scope, behind, 2).await.unwrap();
        for talk in page {
            let turns: Vec<String> = talk.turns.iter().map(|turn| turn.turn.to_string()).collect();
            read.push((talk.id.to_string(), turns.join(" ")));
        }
        mark = next;
    }
    let expected = [("a", "a1"), ("b", "b1 b2"), ("c", "c1 c2")];
    assert_eq!(read, expected.map(|(id, turns)| (id.to_owned(), turns.to_owned())));
    let none =
        store.labelled_conversations(&other(), ConversationCursor::default(), 9).await.unwrap();
    assert_eq!(none, (Vec::new(), None));
}

pub(crate) async fn empty_conversations_block_no_page(store: &Store) {
    let named = |n: usize| {
        let conversation = Some(conversation_id(&format!("a{n}")));
        let event = Event { conversation, ..testkit::event(&Scope::default(), &format!("e{n}")) };
        Write {
            claims: vec![claim(&format!("e{n}"), 1)],
            ..Write::new(testkit::redacted(event), Vec::new())
        }
    };
    store.commit((0..600).map(named).collect()).await.unwrap();
    play(store, [Scene::open("t1", "b")]).await;
    let scope = Scope::default();
    let (page, next) =
        store.labelled_conversations(&scope, ConversationCursor::default(), 1).await.unwrap();
    assert_eq!(page, []);
    let (page, _) = store.labelled_conversations(&scope, next.unwrap(), 1).await.unwrap();
    assert_eq!((page.len(), page[0].id.as_str()), (1, "b"));
}
