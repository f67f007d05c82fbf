//! Contract of reactions.

use model::{
    Change, Origin, Position, Reaction, Scope, Tenant, TurnChange, UnitInterval, VerdictStatus,
    Window,
};

use crate::contract::scene::{Scene, at, conversation_id, play, turn_id, user_id};
use crate::{ConversationQuery, ReactionFilter, ReactionSearch, Store, StoredReaction};

async fn of_conversation(store: &Store, conversation: &str) -> Vec<StoredReaction> {
    let query = ConversationQuery {
        scope: Scope::default(),
        conversation: conversation_id(conversation),
        turns: None,
        since: at(-1_000_000),
        limit: 100,
    };
    store.conversation_reactions(query).await.unwrap()
}

fn events(reactions: &[StoredReaction]) -> Vec<&str> {
    reactions.iter().map(|reaction| reaction.event.as_str()).collect()
}

/// The machine's reactions accumulate.
pub(crate) async fn later_reaction_replaces_the_earlier(store: &Store) {
    play(
        store,
        [
            Scene::open("t1", "c1"),
            Scene::react("first", "t1", Reaction::Ok).by("u1"),
            Scene::react("others", "t1", Reaction::Ok).by("u2"),
            Scene::infer("guess", "t1", Reaction::NotOk),
            Scene::react("second", "t1", Reaction::NotOk),
            Scene::infer("another", "t1", Reaction::NotOk),
        ],
    )
    .await;
    let found = of_conversation(store, "c1").await;
    assert_eq!(events(&found), ["others", "guess", "second", "another"]);
    let guess = &found[1];
    assert_eq!((guess.origin, guess.reaction), (Origin::Machine, Reaction::NotOk));
    assert_eq!((guess.confidence.get(), guess.text.as_deref()), (0.75, Some("guess")));
    assert_eq!((guess.track.as_deref(), guess.bundle.as_deref()), (Some("A"), Some("b")));
    assert_eq!((guess.user_type.as_deref(), guess.position), (Some("privileged"), Position(4)));
    assert_eq!(guess.user, Some(user_id("u1")), "of the turn's user");
    play(store, [Scene::clear("clear", "t1").by("u2"), Scene::clear("none", "t1").by("u3")]).await;
    assert_eq!(events(&of_conversation(store, "c1").await), ["guess", "second", "another"]);
}

pub(crate) async fn early_reactions_attach_to_their_turn(store: &Store) {
    play(
        store,
        [
            Scene::react("named", "t1", Reaction::Ok).by("u1").inside("elsewhere"),
            Scene::react("nobody", "t1", Reaction::NotOk),
            Scene::react("others", "t1", Reaction::Ok).by("u2"),
        ],
    )
    .await;
    assert_eq!(events(&of_conversation(store, "elsewhere").await), ["named"]);
    play(store, [Scene::open("t1", "c1")]).await;
    assert_eq!(of_conversation(store, "elsewhere").await, []);
    let found = of_conversation(store, "c1").await;
    assert_eq!(
        events(&found),
        ["nobody", "others"],
        "the anonymous user is u1, and the later reaction stays"
    );
    assert_eq!(found[0].user, Some(user_id("u1")));
}

pub(crate) async fn conversation_reactions_filter_by_turn(store: &Store) {
    play(
        store,
        [
            Scene::open("t1", "c1"),
            Scene::open("t2", "c1"),
            Scene::react("old", "t1", Reaction::Ok).by("u2").at(10),
            Scene::react("new", "t1", Reaction::Ok).at(30),
            Scene::react("other", "t2", Reaction::Ok).at(20),
        ],
    )
    .await;
    let ask = async |turns: Option<Vec<&str>>, since: i64| {
        let query = ConversationQuery {
            scope: Scope::default(),
            conversation: conversation_id("c1"),
            turns: turns.map(|turns| turns.into_iter().map(turn_id).collect()),
            since: at(since),
            limit: 100,
        };
        let found = store.conversation_reactions(query).await.unwrap();
        found.iter().map(|reaction| reaction.event.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ask(None, 0).await, ["old", "other", "new"]);
    assert_eq!(ask(None, 20).await, ["other", "new"]);
    assert_eq!(ask(Some(vec!["t1"]), 0).await, ["old", "new"]);
    assert_eq!(ask(Some(vec!["t2", "unknown"]), 0).await, ["other"]);
}

pub(crate) async fn newest_reactions_of_turns_are_returned(store: &Store) {
    for (turn, secs) in [("t1", 10), ("t2", 20), ("t3", 30)] {
        let reaction = Scene::react(&format!("on-{turn}"), turn, Reaction::Ok).at(secs);
        play(store, [Scene::open(turn, "c1"), reaction]).await;
    }
    let query = ConversationQuery {
        scope: Scope::default(),
        conversation: conversation_id("c1"),
        turns: Some(["t1", "t2", "t3"].map(turn_id).to_vec()),
        since: at(0),
        limit: 1,
    };
    assert_eq!(events(&store.conversation_reactions(query).await.unwrap()), ["on-t3"]);
}

pub(crate) async fn reaction_is_found_by_its_user(store: &Store) {
    play(store, [Scene::open("t1", "c1"), Scene::react("mine", "t1", Reaction::Ok)]).await;
    let (scope, turn) = (Scope::default(), turn_id("t1"));
    let ask = async |user: Option<&str>| {
        let user = user.map(user_id);
        let found = store.standing_reaction(&scope, &turn, user.as_ref()).await.unwrap();
        found.map(|reaction| reaction.event.to_string())
    };
    assert_eq!(ask(None).await.as_deref(), Some("mine"));
    assert_eq!(ask(Some("u1")).await.as_deref(), Some("mine"));
    assert_eq!(ask(Some("u2")).await, None);
}

pub(crate) async fn anonymous_reactions_replace_each_other(store: &Store) {
    let mut open = Scene::open("t1", "c1");
    open.event.user = None;
    play(store, [open, Scene::react("first", "t1", Reaction::Ok)]).await;
    play(store, [Scene::react("second", "t1", Reaction::NotOk)]).await;
    let found = of_conversation(store, "c1").await;
    assert_eq!(events(&found), ["second"]);
    assert_eq!(found[0].user, Some(user_id(model::ANONYMOUS)));
    let standing = async |turn: &str| -> Option<String> {
        let found = store.standing_reaction(&Scope::default(), &turn_id(turn), None).await.unwrap();
        found.map(|reaction| reaction.event.to_string())
    };
    assert_eq!(standing("t1").await.as_deref(), Some("second"));
    assert_eq!(standing("unknown").await, None);
    assert_eq!(of_conversation(store, "unknown").await, []);
}

/// Reactions of the application's own machines still count.
pub(crate) async fn review_overrides_messages(store: &Store) {
    let read = |id: &str, message: &str| {
        let (origin, reaction) = (Origin::Machine, Reaction::NotOk);
        let (confidence, detected_in) = (UnitInterval::ONE, Some(turn_id(message)));
        let rating = reaction.value();
        let react = TurnChange::React { origin, reaction, rating, confidence, detected_in };
        Scene::new(id, "t1", Change::Turn(react))
    };
    play(store, [Scene::open("t1", "c1"), read("before", "t2")]).await;
    assert_eq!(events(&of_conversation(store, "c1").await), ["before"]);
    play(
        store,
        [Scene::new("review", "t1", Change::Turn(TurnChange::Review(VerdictStatus::Accepted)))],
    )
    .await;
    play(store, [read("after", "t3"), Scene::infer("own", "t1", Reaction::NotOk)]).await;
    assert_eq!(events(&of_conversation(store, "c1").await), ["review", "own"]);
}

pub(crate) async fn reaction_search_pages_newest_first(store: &Store) {
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    play(
        store,
        [
            Scene::open("t1", "c1"),
            Scene::open("t2", "c2"),
            Scene::react("a", "t1", Reaction::Ok).at(1),
            Scene::react("b", "t2", Reaction::Ok).by("u2").at(2),
            Scene::infer("c", "t1", Reaction::NotOk).at(2),
            Scene::react("foreign", "t1", Reaction::Ok).at(3).of(&other),
        ],
    )
    .await;
    let everything = ReactionSearch {
        scope: Scope::default(),
        filter: ReactionFilter::default(),
        conversation: None,
        turn: None,
        track: None,
        window: Window { start: at(0), end: at(9) },
        before: None,
        limit: 10,
    };
    let check = async |search: ReactionSearch, expected: &[&str]| {
        let found = store.search_reactions(search.clone()).await.unwrap();
        assert_eq!(events(&found), expected, "{search:?}");
    };
    let all = || everything.clone();
    check(all(), &["c", "b", "a"]).await;
    check(ReactionSearch { limit: 2, ..all() }, &["c", "b"]).await;
    check(ReactionSearch { before: Some((at(2), Position(4))), ..all() }, &["a"]).await;
    let by = |user: &str| ReactionFilter { user: Some(user_id(user)), ..ReactionFilter::default() };
    check(ReactionSearch { filter: by("u2"), ..all() }, &["b"]).await;
    check(ReactionSearch { filter: by("u9"), ..all() }, &[]).await;
    let inside = |id: &str| ReactionSearch { conversation: Some(conversation_id(id)), ..all() };
    check(inside("c1"), &["c", "a"]).await;
    check(inside("c9"), &[]).await;
    check(ReactionSearch { turn: Some(turn_id("t1")), ..all() }, &["c", "a"]).await;
    check(ReactionSearch { track: Some("A".into()), ..all() }, &["c", "b", "a"]).await;
    check(ReactionSearch { track: Some("B".into()), ..all() }, &[]).await;
    let machine = ReactionFilter { origin: Some(Origin::Machine), ..ReactionFilter::default() };
    check(ReactionSearch { filter: machine, ..all() }, &["c"]).await;
    let early = Window { start: at(0), end: at(1) };
    check(ReactionSearch { window: early, ..all() }, &["a"]).await;
}
