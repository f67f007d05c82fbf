//! Preconditions of writes.

use model::{
    Body, Change, Claim, ClaimSpace, DecisionChange, Entry, Event, EventId, Mac, Need, Origin,
    Outcome, Position, Project, Reaction, Scope, TurnChange, TurnHalf, UnitInterval, Write,
};
use serde_json::json;

use crate::Store;
use crate::contract::scene::{Scene, conversation_id, decision_id, play, turn_id};

async fn outcome(store: &Store, scene: Scene, needs: Vec<Need>) -> Outcome {
    let write = Write { needs, ..scene.write() };
    store.commit(vec![write]).await.unwrap().remove(0)
}

pub(crate) async fn needed_turn_must_be_open_in_its_conversation(store: &Store) {
    let react = |id: &str| Scene::react(id, "t1", Reaction::Ok);
    let anywhere = Need::Turn(None);
    let missing = Outcome::Missing(anywhere.clone());
    assert_eq!(outcome(store, react("a"), vec![anywhere.clone()]).await, missing);
    // Feedback does not open a turn.
    play(store, [react("early")]).await;
    assert_eq!(outcome(store, react("b"), vec![anywhere.clone()]).await, missing);
    play(store, [Scene::open("t1", "c1")]).await;
    for wrong in ["c2", "c1 "] {
        let Ok(id) = model::ConversationId::new(wrong) else { continue };
        let elsewhere = Need::Turn(Some(id));
        let refused = outcome(store, react("c"), vec![elsewhere.clone()]).await;
        assert_eq!(refused, Outcome::Missing(elsewhere));
    }
    let here = Need::Turn(Some(conversation_id("c1")));
    let stored = outcome(store, react("d"), vec![anywhere, here]).await;
    assert_eq!(stored, Outcome::Stored(Position(3)));
    assert_eq!(store.head(), Position(3), "what was refused left nothing");
}

pub(crate) async fn known_turn_is_not_new(store: &Store) {
    let open = |turn| outcome(store, Scene::open(turn, "c1"), vec![Need::NewTurn]);
    let refused = Outcome::Missing(Need::NewTurn);
    play(store, [Scene::react("early", "t1", Reaction::Ok)]).await;
    assert_eq!(open("t1").await, refused, "feedback names it");
    assert_eq!(open("t2").await, Outcome::Stored(Position(2)));
    let other =
        Scene { event: scope_event(Scene::open("t2", "c1").event), ..Scene::open("t2", "c1") };
    assert_eq!(
        outcome(store, other, vec![Need::NewTurn]).await,
        Outcome::Stored(Position(3)),
        "another project may use the id"
    );
}

/// The event in another project.
fn scope_event(event: Event) -> Event {
    let project = Project::new("other").unwrap();
    Event { scope: Scope { project, ..event.scope }, ..event }
}

/// Feedback that opens its turn, or only reacts to it.
fn about(id: &str, conversation: &str, is_quoted: Option<bool>) -> Write {
    let fallbacks = [format!("{conversation}:t1"), format!("other-{conversation}")];
    let scene = match is_quoted {
        Some(is_quoted) => {
            let open = TurnChange::OpenDerived { is_quoted, vector: None, language: None };
            Scene::new(id, "t1", Change::Turn(open))
        }
        None => Scene::react(id, "t1", Reaction::Ok),
    };
    let fallback_turns = fallbacks.map(|id| turn_id(&id)).to_vec();
    Write { fallback_turns, ..scene.inside(conversation).write() }
}

pub(crate) async fn turn_of_another_conversation_is_replaced_by_a_fallback(store: &Store) {
    let writes = vec![
        about("a", "c1", Some(true)),
        about("b", "c2", Some(true)),
        about("c", "c2", None),
        about("d", "c3", None),
        about("b", "c2", Some(true)),
        about("e", "c1", None),
    ];
    let outcomes = store.commit(writes).await.unwrap();
    assert_eq!(outcomes[0], Outcome::Stored(Position(1)));
    let elsewhere = [2, 3, 4].map(|number| Outcome::StoredElsewhere(Position(number)));
    assert_eq!(outcomes[1..4], elsewhere);
    assert!(matches!(outcomes[4], Outcome::Replayed { position: Position(2), .. }), "{outcomes:?}");
    assert_eq!(outcomes[5], Outcome::Stored(Position(5)));
    // Another conversation has taken the first fallback.
    play(store, [Scene::open("c4:t1", "c9")]).await;
    store.commit(vec![about("f", "c4", Some(false))]).await.unwrap();
    let expected =
        [("a", "t1"), ("b", "c2:t1"), ("c", "c2:t1"), ("d", "t1"), ("e", "t1"), ("f", "other-c4")];
    for (event, turn) in expected {
        let id = EventId::new(event).unwrap();
        let stored = store.event(&Scope::default(), &id).await.unwrap().unwrap();
        assert_eq!(stored.event.turn, Some(turn_id(turn)), "{event}");
    }
    for (turn, conversation) in [("t1", "c1"), ("c2:t1", "c2"), ("other-c4", "c4")] {
        let head = store.turn_head(&Scope::default(), &turn_id(turn)).await.unwrap().unwrap();
        assert_eq!(head.conversation, Some(conversation_id(conversation)), "{turn}");
    }
}

pub(crate) async fn turn_quoted_in_another_conversation_is_refused(store: &Store) {
    store.commit(vec![about("a", "c1", Some(true))]).await.unwrap();
    let open = |conversation| Scene::open("t1", conversation);
    let elsewhere = Need::SameConversation(conversation_id("c2"));
    let refused = outcome(store, open("c2"), vec![elsewhere.clone()]).await;
    assert_eq!(refused, Outcome::Missing(elsewhere));
    let here = Need::SameConversation(conversation_id("c1"));
    let stored = outcome(store, open("c1"), vec![here]).await;
    assert_eq!(stored, Outcome::Stored(Position(2)));
    // A conversation that feedback did not name gives way to any other.
    let derived = about("b", "quoted.1", Some(true)).entry.event;
    let derived =
        derived.derive(|event| model::Event { turn: Some(turn_id("t2")), ..event.clone() });
    let opened = TurnChange::OpenDerived { is_quoted: true, vector: None, language: None };
    let derived = Write::new(derived, vec![Change::Turn(opened)]);
    store.commit(vec![derived]).await.unwrap();
    let need = Need::SameConversation(conversation_id("c3"));
    let stored = outcome(store, Scene::open("t2", "c3"), vec![need]).await;
    assert_eq!(stored, Outcome::Stored(Position(4)));
}

pub(crate) async fn needed_decision_must_exist(store: &Store) {
    let need = || vec![Need::Decision(decision_id("d1"))];
    let settle = |id: &str| {
        Scene::new(
            id,
            "t1",
            Change::Decision(DecisionChange::Settle {
                id: decision_id("d1"),
                executed: Some(true),
            }),
        )
    };
    let refused = outcome(store, settle("a"), need()).await;
    assert_eq!(refused, Outcome::Missing(need().remove(0)));
    play(
        store,
        [Scene::new(
            "made",
            "t1",
            Change::Decision(DecisionChange::Make {
                id: decision_id("d1"),
                is_sql: false,
                executed: None,
            }),
        )],
    )
    .await;
    assert_eq!(outcome(store, settle("b"), need()).await, Outcome::Stored(Position(2)));
    // The outcome must be the one that was read.
    let at = |position: Option<u64>| Need::OutcomeAt(decision_id("d1"), position.map(Position));
    for other in [None, Some(1), Some(3)] {
        let refused = outcome(store, settle("c"), vec![at(other)]).await;
        assert_eq!(refused, Outcome::Missing(at(other)));
    }
    assert_eq!(outcome(store, settle("c"), vec![at(Some(2))]).await, Outcome::Stored(Position(3)));
}

/// Repeating an older outcome is a change.
pub(crate) async fn equal_outcome_changes_nothing(store: &Store) {
    let decide = Change::Decision(DecisionChange::Make {
        id: decision_id("d1"),
        is_sql: false,
        executed: None,
    });
    play(store, [Scene::new("made", "t1", decide)]).await;
    let settle = async |id: &str, said: &str| {
        let change = Change::Decision(DecisionChange::Settle {
            id: decision_id("d1"),
            executed: Some(true),
        });
        let scene = Scene::new(id, "t1", change).saying(&json!({"outcome": said}));
        outcome(store, scene, vec![Need::OtherOutcome(decision_id("d1"))]).await
    };
    assert_eq!(settle("a", "success").await, Outcome::Stored(Position(2)));
    assert_eq!(settle("b", "success").await, Outcome::Unchanged);
    assert_eq!(settle("c", "failure").await, Outcome::Stored(Position(3)));
    assert_eq!(settle("d", "success").await, Outcome::Stored(Position(4)));
}

pub(crate) async fn equal_reaction_changes_nothing(store: &Store) {
    play(store, [Scene::open("t1", "c1"), Scene::react("first", "t1", Reaction::Ok)]).await;
    let other = |reaction, text: &str| {
        let text = Some(text.to_owned());
        vec![Need::OtherReaction { reaction, text, tags: Vec::new() }]
    };
    let same = || Scene::react("same", "t1", Reaction::Ok);
    // Without a user the turn's user counts.
    for scene in [same(), same().by("u1")] {
        let needs = other(Some(Reaction::Ok), "first");
        assert_eq!(outcome(store, scene, needs).await, Outcome::Unchanged);
    }
    let another_user = outcome(store, same().by("u2"), other(Some(Reaction::Ok), "first")).await;
    assert_eq!(another_user, Outcome::Stored(Position(3)));
    let nothing = vec![Need::OtherReaction { reaction: None, text: None, tags: Vec::new() }];
    let none_of_u3 = Scene::clear("clear", "t1").by("u3");
    assert_eq!(outcome(store, none_of_u3, nothing.clone()).await, Outcome::Unchanged);
    let of_u2 = Scene::clear("clear", "t1").by("u2");
    assert_eq!(outcome(store, of_u2, nothing).await, Outcome::Stored(Position(4)));
    let said_otherwise = Scene::react("second", "t1", Reaction::Ok);
    let needs = other(Some(Reaction::Ok), "second");
    assert_eq!(outcome(store, said_otherwise, needs).await, Outcome::Stored(Position(5)));
    let stars = Change::Turn(TurnChange::React {
        origin: Origin::User,
        reaction: Reaction::Ok,
        rating: UnitInterval::new(0.75).unwrap(),
        confidence: UnitInterval::ONE,
        detected_in: None,
    });
    play(store, [Scene::new("stars", "t1", stars).saying(&json!({"text": "first"}))]).await;
    let clearer = Scene::react("third", "t1", Reaction::Ok);
    let clearer = outcome(store, clearer, other(Some(Reaction::Ok), "first")).await;
    assert_eq!(clearer, Outcome::Stored(Position(7)), "the rating of the stars differs");
}

pub(crate) async fn equal_reaction_with_new_tags_is_stored(store: &Store) {
    play(store, [Scene::open("t1", "c1")]).await;
    let give = async |id: &str, reaction: Option<Reaction>, tags: &[&str]| {
        let mut scene = match reaction {
            Some(reaction) => Scene::react(id, "t1", reaction).saying(&json!({})),
            None => Scene::clear(id, "t1"),
        };
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        scene.event.tags.clone_from(&tags);
        outcome(store, scene, vec![Need::OtherReaction { reaction, text: None, tags }]).await
    };
    let stored = |position| Outcome::Stored(Position(position));
    let bad = Some(Reaction::NotOk);
    assert_eq!(give("a", None, &["x"]).await, stored(2), "nothing to clear, but a tag");
    assert_eq!(give("b", bad, &[]).await, stored(3));
    assert_eq!(give("c", bad, &["x"]).await, stored(4));
    assert_eq!(give("d", bad, &["x"]).await, Outcome::Unchanged);
    assert_eq!(give("e", bad, &[]).await, Outcome::Unchanged);
    assert_eq!(give("f", bad, &["x", "y"]).await, stored(5));
}

pub(crate) async fn unchanged_write_uses_up_its_request_key(store: &Store) {
    play(store, [Scene::open("t1", "c1")]).await;
    let keyed = |id: &str, body: u8| {
        let mut write = Scene::clear(id, "t1").write();
        let (space, mac) = (ClaimSpace::RequestKey, Some(Mac([body; 16])));
        write.claims.push(Claim { space, id: "k".into(), mac });
        write.needs.push(Need::OtherReaction { reaction: None, text: None, tags: Vec::new() });
        write
    };
    let outcomes = store.commit(vec![keyed("a", 1), keyed("b", 1), keyed("c", 2)]).await.unwrap();
    let conflict = Outcome::Conflict(ClaimSpace::RequestKey);
    assert_eq!(outcomes, [Outcome::Unchanged, Outcome::Unchanged, conflict]);
}

/// A further event of a write has an id that follows from the first one's and needs no claim.
pub(crate) async fn further_events_are_found_by_the_first_ones_claim(store: &Store) {
    const FIRST: &str = "0190a1b2-c3d4-7000-8000-0000000000";
    let id = |digits: &str| EventId::new(format!("{FIRST}{digits}")).unwrap();
    let mut write = Scene::open("t1", "c1").write();
    let claims = std::mem::take(&mut write.claims);
    let own = |id: &EventId, claim: Claim| Claim { id: id.as_str().to_owned(), ..claim };
    write.claims = claims.into_iter().map(|claim| own(&id("00"), claim)).collect();
    write.claims.push(Claim { space: ClaimSpace::Completion, id: "t1".into(), mac: None });
    write.entry.event = write.entry.event.with_id(id("00"));
    write.more.push(Scene::infer("x", "t1", Reaction::NotOk).write().entry);
    let mut answer = Scene::answer("t1").write().entry;
    let body = json!({"phase": "completed", "response": "This.", "status": "success"});
    let body = Body::Turn(serde_json::from_value::<TurnHalf>(body).unwrap());
    testkit::edit_event(&mut answer.event, |event| event.body = body);
    write.more.push(answer);
    let write = write.with_numbered_events();
    let outcomes = store.commit(vec![Scene::open("t0", "c1").write(), write]).await.unwrap();
    assert_eq!(outcomes[1], Outcome::Stored(Position(2)));
    let scope = Scope::default();
    for (digits, position) in [("00", Some(2)), ("01", Some(3)), ("02", Some(4)), ("03", None)] {
        let found = store.event(&scope, &id(digits)).await.unwrap();
        assert_eq!(found.map(|stored| stored.position), position.map(Position), "{digits}");
    }
    // An import of the event is a repeat; another event of the write's form is new.
    let import = |digits: &str| {
        let write = Scene::infer(id(digits).as_str(), "t1", Reaction::NotOk).write();
        assert_eq!(write.claims[0].id, id(digits).as_str());
        store.commit(vec![write])
    };
    let repeat = Outcome::Replayed { position: Position(3), id: id("01") };
    assert_eq!(import("01").await.unwrap(), [repeat]);
    assert_eq!(import("07").await.unwrap(), [Outcome::Stored(Position(5))]);
    // A repeat of the answer is told its own event, not the question's.
    let mut again = Scene::answer("t1").write();
    again.claims = vec![Claim { space: ClaimSpace::Completion, id: "t1".into(), mac: None }];
    let repeat = store.commit(vec![again]).await.unwrap();
    assert_eq!(repeat, [Outcome::Replayed { position: Position(4), id: id("02") }]);
}

/// An answer that is known before its question does not use up the request key of both.
pub(crate) async fn question_of_a_known_answer_is_stored_under_the_same_key(store: &Store) {
    let claim = |space, id: &str| Claim { space, id: id.to_owned(), mac: Some(Mac([7; 16])) };
    let mut answer = Scene::answer("t1").write();
    answer.claims.push(claim(ClaimSpace::Completion, "t1"));
    let body = json!({"phase": "completed", "response": "This.", "status": "success"});
    let body = Body::Turn(serde_json::from_value::<TurnHalf>(body).unwrap());
    testkit::edit_event(&mut answer.entry.event, |event| event.body = body);
    let mut question = Scene::open("t1", "c1").write();
    question.claims.push(claim(ClaimSpace::RequestKey, "k"));
    let mut both = question.clone();
    both.claims.push(claim(ClaimSpace::Completion, "t1"));
    both.more.push(Entry {
        event: answer.entry.event.clone().with_id(EventId::new("again").unwrap()),
        changes: answer.entry.changes.clone(),
    });
    store.commit(vec![answer]).await.unwrap();
    let repeat = store.commit(vec![both.clone()]).await.unwrap();
    assert!(matches!(repeat[0], Outcome::Replayed { position: Position(1), .. }), "{repeat:?}");
    // Each half by itself, as for a dead letter.
    let halves = store.commit(both.split_answer()).await.unwrap();
    assert_eq!(halves[0], Outcome::Stored(Position(2)));
    assert!(matches!(halves[1], Outcome::Replayed { position: Position(1), .. }), "{halves:?}");
    let repeat = store.commit(vec![question]).await.unwrap();
    assert!(matches!(repeat[0], Outcome::Replayed { position: Position(2), .. }), "{repeat:?}");
}

/// All of them are stored, or none.
pub(crate) async fn events_of_one_write_are_adjacent(store: &Store) {
    let mut write = Scene::open("t1", "c1").write();
    write.more.push(Scene::infer("found", "t1", Reaction::NotOk).write().entry);
    let twice = store.commit(vec![write.clone(), write]).await.unwrap();
    assert_eq!(twice[0], Outcome::Stored(Position(1)));
    assert!(matches!(twice[1], Outcome::Replayed { position: Position(1), .. }), "{twice:?}");
    assert_eq!(store.head(), Position(2));
    let mut refused = Scene::open("t2", "c1").write();
    refused.needs.push(Need::Decision(decision_id("none")));
    refused.more.push(Scene::infer("other", "t2", Reaction::NotOk).write().entry);
    store.commit(vec![refused]).await.unwrap();
    assert_eq!(store.head(), Position(2));
}
