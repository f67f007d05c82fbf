//! Contract of open sessions.

use model::{Change, Reaction, Scope, TurnChange, VerdictStatus};

use crate::Store;
use crate::contract::scene::{Scene, at, conversation_id, play, turn_id};
use crate::{TailLimits, UserTurns};

pub(crate) async fn session_ends_after_its_last_turn(store: &Store) {
    let find = async |id| {
        let conversation = conversation_id(id);
        let turns = UserTurns { scope: Scope::default(), conversation, user: None };
        let limits = TailLimits { answered: 2, later: 2, later_until: at(99) };
        store.conversation_tail(turns, at(9), limits).await.unwrap().session
    };
    let open = async || find("c1").await;
    assert_eq!(open().await, None);
    play(store, [Scene::open("t1", "c1").at(10), Scene::answer("t1").at(20)]).await;
    play(store, [Scene::open("t2", "c1").at(30), Scene::open("t3", "c2").at(1_000)]).await;
    let found = open().await.unwrap();
    assert_eq!((found.last_turn.as_str(), found.turns), ("t2", 2));
    assert_eq!((found.started_at, found.last_at), (at(10), at(30)));
    assert_eq!((found.used, found.answered), (false, false));
    play(store, [Scene::answer("t2").at(40), Scene::react("used", "t2", Reaction::Ok)]).await;
    let found = open().await.unwrap();
    assert_eq!((found.last_at, found.used, found.answered), (at(40), true, true));
    let silent = store.silent_sessions(at(41), 10).await.unwrap();
    assert_eq!(silent, [found]);
    let end = Scene::new(
        "end",
        "t2",
        Change::Turn(TurnChange::EndSession { last_at: at(40), abandoned: false }),
    )
    .inside("c1");
    play(store, [end]).await;
    assert_eq!(open().await, None);
    play(store, [Scene::open("t4", "c1").at(9_000)]).await;
    let found = open().await.unwrap();
    assert_eq!((found.last_turn.as_str(), found.turns), ("t4", 1));
    assert_eq!(find("unknown").await, None);
}

/// Also when both are in one group, whose statements Postgres reorders.
pub(crate) async fn reports_before_the_opening_do_not_change_the_turn(store: &Store) {
    let early = |turn: &str| {
        let rejected = Change::Turn(TurnChange::Review(VerdictStatus::Rejected));
        [
            Scene::new(&format!("left-{turn}"), turn, Change::AbandonSession),
            Scene::new(&format!("review-{turn}"), turn, rejected),
        ]
    };
    play(store, early("t1")).await;
    play(store, [Scene::open("t1", "c1")]).await;
    let group = early("t2").into_iter().chain([Scene::open("t2", "c2")]);
    store.commit(group.map(Scene::write).collect()).await.unwrap();
    let turns = vec![turn_id("t1"), turn_id("t2")];
    let found = store.exchanges_by_id(&Scope::default(), turns).await.unwrap();
    assert_eq!(found[0].standing, found[1].standing);
    assert!(!found[0].standing.silent, "{found:?}");
}
