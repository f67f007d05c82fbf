//! Answers with what people said and did about them.

use event::{
    Change, Event, Kind, Position, Reaction, Scope, Source, Tenant, TurnFact, Type, UnitInterval,
    VerdictStatus, Write,
};
use serde_json::{Value, json};
use testkit::claim;

use super::scene::{Scene, conversation_id, play, turn_id};
use crate::{Changed, ConversationMark, Store};

fn other() -> Scope {
    Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() }
}

/// A correction, of a turn or by itself.
async fn correct(store: &dyn Store, id: &str, turn: Option<&str>, data: &Value) {
    let event = Event {
        kind: Kind { event_type: Type::Explicit, source: Source::UserCorrection },
        turn: turn.map(turn_id),
        data: data.as_object().unwrap().clone(),
        ..testkit::event(&Scope::default(), id)
    };
    let changes = turn.map(|_| Change::Note(TurnFact::Corrected)).into_iter().collect();
    let write = Write { claims: vec![claim(id, 1)], ..Write::of(event, changes) };
    store.commit(vec![write]).await.unwrap();
}

/// A reaction by its own kind of event, so that those who follow the log see it.
fn react(id: &str, turn: &str, reaction: Reaction) -> Scene {
    let mut scene = Scene::react(id, turn, reaction);
    scene.event.kind = Kind { event_type: Type::Explicit, source: Source::Reaction };
    scene
}

async fn changed(store: &dyn Store, after: Position) -> Changed {
    store.changed(&Scope::default(), after, 100).await.unwrap()
}

/// A turn comes with its words, its verdict, its rating and its corrections, for its own project.
pub(crate) async fn an_answer_comes_with_what_was_said_of_it(store: &dyn Store) {
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

/// What was touched behind a position comes as it is now, once, and nothing else.
pub(crate) async fn what_was_touched_is_told(store: &dyn Store) {
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

/// Conversations come whole, in the order of their ids, page by page.
pub(crate) async fn conversations_come_whole(store: &dyn Store) {
    for (turn, conversation, secs) in
        [("b2", "b", 2), ("b1", "b", 1), ("a1", "a", 9), ("c1", "c", 0), ("c2", "c", 5)]
    {
        play(store, [Scene::open(turn, conversation).at(secs)]).await;
    }
    let scope = Scope::default();
    let (mut mark, mut read) = (Some(ConversationMark::default()), Vec::new());
    while let Some(behind) = mark {
        let (page, next) = store.judged_conversations(&scope, behind, 2).await.unwrap();
        for talk in page {
            let turns: Vec<String> = talk.turns.iter().map(|turn| turn.turn.to_string()).collect();
            read.push((talk.id.to_string(), turns.join(" ")));
        }
        mark = next;
    }
    let expected = [("a", "a1"), ("b", "b1 b2"), ("c", "c1 c2")];
    assert_eq!(read, expected.map(|(id, turns)| (id.to_owned(), turns.to_owned())));
    let none = store.judged_conversations(&other(), ConversationMark::default(), 9).await.unwrap();
    assert_eq!(none, (Vec::new(), None));
}

/// Conversations without turns hold no page up, however many they are, and hide none behind them.
pub(crate) async fn conversations_without_turns_hold_no_page_up(store: &dyn Store) {
    let named = |n: usize| {
        let conversation = Some(conversation_id(&format!("a{n}")));
        let event = Event { conversation, ..testkit::event(&Scope::default(), &format!("e{n}")) };
        Write { claims: vec![claim(&format!("e{n}"), 1)], ..Write::of(event, Vec::new()) }
    };
    store.commit((0..600).map(named).collect()).await.unwrap();
    play(store, [Scene::open("t1", "b")]).await;
    let scope = Scope::default();
    let (page, next) =
        store.judged_conversations(&scope, ConversationMark::default(), 1).await.unwrap();
    assert_eq!(page, []);
    let (page, _) = store.judged_conversations(&scope, next.unwrap(), 1).await.unwrap();
    assert_eq!((page.len(), page[0].id.as_str()), (1, "b"));
}
