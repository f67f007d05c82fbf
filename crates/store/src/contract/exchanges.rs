//! Reception of answers, and precedence of verdicts.

use model::{
    Change, Contrast, Judgement, Position, Reaction, Scope, Tenant, Timestamp, TurnChange, TurnId,
    UnitInterval, VerdictStatus,
};
use serde_json::json;

use crate::contract::scene::{Scene, at, conversation_id, play, turn_id, user_id};
use crate::{
    ExchangeQuery, Habit, MessagePosition, Standing, Store, StoredExchange, TailLimits, UserTurns,
};

fn query(limit: usize) -> ExchangeQuery {
    ExchangeQuery {
        scope: Scope::default(),
        conversation: Some(conversation_id("c1")),
        user: None,
        until: Timestamp::from_micros(i64::MAX),
        before: None,
        older_than: None,
        only_answered: true,
        limit,
    }
}

fn user_turns(user: Option<&str>) -> UserTurns {
    UserTurns {
        scope: Scope::default(),
        conversation: conversation_id("c1"),
        user: user.map(user_id),
    }
}

async fn standing(store: &Store, turn: &str) -> Standing {
    let found = store.exchanges_by_id(&Scope::default(), vec![turn_id(turn)]).await.unwrap();
    found.into_iter().next().unwrap().standing
}

async fn status(store: &Store, turn: &str) -> VerdictStatus {
    standing(store, turn).await.status
}

/// With and without unanswered turns.
pub(crate) async fn conversation_reads_newest_first(store: &Store) {
    for (n, turn) in ["t1", "t2", "t3"].into_iter().enumerate() {
        play(store, [Scene::open(turn, "c1").at(n as i64)]).await;
    }
    play(store, [Scene::answer("t1"), Scene::answer("t3"), Scene::open("t9", "other")]).await;
    let ids = async |query| -> Vec<String> {
        let found = store.exchanges(query).await.unwrap();
        found.into_iter().map(|exchange| exchange.turn.to_string()).collect()
    };
    assert_eq!(ids(query(10)).await, ["t3", "t1"]);
    assert_eq!(ids(query(1)).await, ["t3"]);
    assert_eq!(ids(ExchangeQuery { only_answered: false, ..query(10) }).await, ["t3", "t2", "t1"]);
    assert_eq!(ids(ExchangeQuery { until: at(1), ..query(10) }).await, ["t1"]);
    let theirs = ExchangeQuery { conversation: None, user: Some(user_id("u1")), ..query(10) };
    assert_eq!(ids(theirs).await, ["t3", "t1"]);
    assert!(ids(ExchangeQuery { conversation: None, ..query(10) }).await.is_empty());
    let other = Scope { tenant: model::Tenant::new("other").unwrap(), ..Scope::default() };
    assert!(ids(ExchangeQuery { scope: other, ..query(10) }).await.is_empty());
    let statuses = store.statuses(user_turns(None), (at(99), Position(99)), 10).await.unwrap();
    let neutral = |turn: &str| (turn_id(turn), VerdictStatus::Neutral);
    assert_eq!(statuses, [neutral("t3"), neutral("t1")]);
    assert_eq!(standing(store, "t1").await.quality, UnitInterval::new(0.9));
}

pub(crate) async fn conversation_reads_before_a_position(store: &Store) {
    play(store, [Scene::open("t1", "c1").at(1), Scene::answer("t1")]).await;
    play(store, [Scene::open("t2", "c1").at(2), Scene::open("t3", "c1").at(2)]).await;
    play(store, [Scene::answer("t2")]).await;
    let check = async |query: ExchangeQuery, expected: &[&str]| {
        let found = store.exchanges(query.clone()).await.unwrap();
        let ids: Vec<&str> = found.iter().map(|exchange| exchange.turn.as_str()).collect();
        assert_eq!(ids, expected, "{query:?}");
    };
    let all = || ExchangeQuery { only_answered: false, ..query(10) };
    let before = |position: u64| Some(Position(position));
    check(ExchangeQuery { before: before(5), ..all() }, &["t3", "t2", "t1"]).await;
    check(ExchangeQuery { before: before(4), ..all() }, &["t2", "t1"]).await;
    check(ExchangeQuery { before: before(5), ..query(10) }, &["t1"]).await;
    check(ExchangeQuery { before: before(6), ..query(10) }, &["t2", "t1"]).await;
    let behind = |secs: i64, position: u64| Some((at(secs), Position(position)));
    check(ExchangeQuery { older_than: behind(2, 4), ..all() }, &["t2", "t1"]).await;
    check(ExchangeQuery { older_than: behind(2, 3), ..all() }, &["t1"]).await;
    check(ExchangeQuery { older_than: behind(1, 1), ..all() }, &[]).await;
}

pub(crate) async fn verdict_is_found_by_its_message(store: &Store) {
    let planned = json!({"phase": "completed", "response": "This.", "status": "success",
        "strategy": {"name": "plan", "params": {"kind": "bar"}}});
    let contrast = json!({"contrast": {"wants": "a table", "instead_of": "prose"}});
    play(
        store,
        [
            Scene::open("t1", "c1").at(1),
            Scene::answer("t1").saying(&planned),
            Scene::open("t2", "c1").at(2),
            Scene::judge("t1", "t2", VerdictStatus::Rejected, false).saying(&contrast),
            Scene::answer("t2"),
        ],
    )
    .await;
    let elsewhere = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let heard = async |scope: &Scope, message: &str| -> Option<String> {
        let found = store.message_verdict(scope, &turn_id(message)).await.unwrap();
        found.map(|stored| stored.event.id.to_string())
    };
    let here = Scope::default();
    assert_eq!(heard(&here, "t2").await.as_deref(), Some("judge-t2"));
    assert_eq!(heard(&here, "t1").await, None);
    assert_eq!(heard(&here, "unknown").await, None);
    assert_eq!(heard(&elsewhere, "t2").await, None);
    let said = Contrast { wants: Some("a table".into()), instead_of: Some("prose".into()) };
    let plan = json!({"name": "plan", "params": {"kind": "bar"}});
    let judged = standing(store, "t1").await;
    let expected = [
        Habit {
            strategy: None,
            status: VerdictStatus::Neutral,
            confidence: standing(store, "t2").await.confidence,
            contrast: None,
        },
        Habit {
            strategy: serde_json::from_value(plan).ok(),
            status: VerdictStatus::Rejected,
            confidence: judged.confidence,
            contrast: Some(said),
        },
    ];
    assert_eq!(store.habits(query(10)).await.unwrap(), expected);
    assert_eq!(store.habits(query(1)).await.unwrap(), expected[..1]);
}

/// Also which answers count for a stored message: those before it, and later ones since a time.
pub(crate) async fn user_sees_own_answers_and_those_without_a_user(store: &Store) {
    let anonymous = |mut scene: Scene| {
        scene.event.user = None;
        scene
    };
    // Positions 1 to 4, answered at 5 to 8. The last question was asked before the others.
    play(store, [Scene::open("t1", "c1").by("ann").at(10)]).await;
    play(store, [Scene::open("t2", "c1").by("bob").at(20)]).await;
    play(store, [anonymous(Scene::open("t3", "c1")).at(30)]).await;
    play(store, [Scene::open("t4", "c1").by("ann").at(5)]).await;
    for turn in ["t1", "t2", "t3", "t4"] {
        play(store, [Scene::answer(turn)]).await;
    }
    let answered = async |user, until, stored_at| -> Vec<String> {
        let turns = user_turns(user);
        let found = store.answered_turns(turns, at(until), stored_at, 10).await.unwrap();
        found.into_iter().map(|exchange| exchange.turn.to_string()).collect()
    };
    let rows: [(Option<&str>, &[&str]); 4] = [
        (Some("ann"), &["t3", "t1", "t4"]),
        (Some("bob"), &["t3", "t2"]),
        (Some("eve"), &["t3"]),
        (None, &["t3", "t2", "t1", "t4"]),
    ];
    for (user, expected) in rows {
        assert_eq!(answered(user, 99, None).await, expected, "{user:?}");
        let statuses = store.statuses(user_turns(user), (at(99), Position(99)), 9).await.unwrap();
        assert_eq!(statuses.len(), expected.len(), "{user:?}");
    }
    let stored = |position, since| {
        Some(MessagePosition { position: Position(position), late_since: at(since) })
    };
    assert_eq!(answered(None, 30, stored(6, 99)).await, ["t1"]);
    assert_eq!(answered(None, 30, stored(3, 10)).await, ["t2", "t1"]);
    assert_eq!(answered(None, 30, stored(3, 0)).await, ["t2", "t1", "t4"]);
    let later = store.turns_between(user_turns(Some("bob")), (at(10), at(20)), 9).await.unwrap();
    assert_eq!(later.len(), 1);
    assert_eq!((later[0].turn.clone(), later[0].opened), (turn_id("t2"), Position(2)));
    let limits = TailLimits { answered: 2, later: 2, later_until: at(30) };
    let tail = store.conversation_tail(user_turns(Some("bob")), at(20), limits).await.unwrap();
    let ids = |turns: Vec<StoredExchange>| -> Vec<String> {
        turns.into_iter().map(|exchange| exchange.turn.to_string()).collect()
    };
    // Later turns are those of all users.
    assert_eq!(
        (ids(tail.answered), ids(tail.later)),
        (vec!["t2".into()], vec!["t2".into(), "t3".into()])
    );
    assert_eq!(tail.session.unwrap().last_turn, turn_id("t3"));
}

/// A review beats the user, the user beats messages, and the latest message with a verdict wins.
/// "Moved on" never replaces another verdict.
pub(crate) async fn verdict_precedence_holds(store: &Store) {
    use VerdictStatus::{Accepted, Neutral, Rejected};
    play(store, [Scene::open("t1", "c1"), Scene::answer("t1")]).await;
    assert_eq!(status(store, "t1").await, Neutral);
    let said = [
        (Accepted, true, "m1", Accepted),
        (Rejected, false, "m2", Rejected),
        (Accepted, true, "m3", Rejected),
        (Neutral, false, "m4", Rejected),
        (Accepted, false, "m5", Accepted),
    ];
    for (found, moved_on, message, expected) in said {
        play(store, [Scene::judge("t1", message, found, moved_on)]).await;
        assert_eq!(status(store, "t1").await, expected, "{message}");
    }
    play(store, [Scene::react("user", "t1", Reaction::NotOk)]).await;
    let by_user = standing(store, "t1").await;
    assert_eq!((by_user.status, by_user.confidence), (Rejected, UnitInterval::ONE));
    play(store, [Scene::new("review", "t1", Change::Turn(TurnChange::Review(Neutral)))]).await;
    assert_eq!(status(store, "t1").await, Neutral);
    play(store, [Scene::clear("clear", "t1")]).await;
    assert_eq!(status(store, "t1").await, Neutral, "the review stands");
}

pub(crate) async fn message_has_one_verdict(store: &Store) {
    use VerdictStatus::{Neutral, Rejected};
    for turn in ["t1", "t2"] {
        play(store, [Scene::open(turn, "c1"), Scene::answer(turn)]).await;
    }
    play(store, [Scene::judge("t1", "m1", Rejected, false)]).await;
    let first = standing(store, "t1").await;
    assert_eq!(first.rejection_detected_in, Some(turn_id("m1")));
    let again =
        Scene { event: renamed("again", "t2"), ..Scene::judge("t2", "m1", Rejected, false) };
    play(store, [again]).await;
    assert_eq!(status(store, "t1").await, Neutral);
    assert_eq!(status(store, "t2").await, Rejected);
}

/// Verdicts of application machines without a message accumulate; the latest wins.
pub(crate) async fn verdict_without_a_message_counts(store: &Store) {
    use VerdictStatus::{Accepted, Rejected};
    let say = |id: &str, status: VerdictStatus| {
        let confidence = UnitInterval::new(0.8).unwrap();
        let change = Change::Judge(Judgement {
            status,
            confidence,
            raw_confidence: confidence,
            moved_on: false,
            corrects: false,
            refines: false,
            detected_in: None,
        });
        Scene::new(id, "t1", change)
    };
    play(store, [Scene::open("t1", "c1"), Scene::answer("t1"), say("first", Rejected)]).await;
    let first = standing(store, "t1").await;
    assert_eq!((first.status, first.rejection_detected_in), (Rejected, None));
    assert_eq!(first.verdict, Some(Position(3)));
    play(store, [Scene::judge("t1", "m1", Accepted, false)]).await;
    assert_eq!(status(store, "t1").await, Accepted);
    play(store, [say("second", Rejected)]).await;
    assert_eq!(standing(store, "t1").await.verdict, Some(Position(5)));
    let again = Scene { event: renamed("again", "t1"), ..Scene::judge("t1", "m1", Accepted, true) };
    play(store, [again]).await;
    assert_eq!(status(store, "t1").await, Rejected, "moving on replaces no verdict");
}

fn renamed(id: &str, turn: &str) -> model::Event {
    let turn: TurnId = turn_id(turn);
    model::Event { turn: Some(turn), ..testkit::event(&Scope::default(), id) }
}
