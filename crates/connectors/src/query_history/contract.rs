//! The contract tests of query histories.

use std::sync::Arc;
use std::time::Duration;

use model::{ConversationId, Project, Scope, Tenant, Timestamp, TurnId, UserId, Vector};

use crate::query_history::{HistoryKey, QueryHistory, RecentQuestion};

pub(crate) const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

pub(crate) fn scope(tenant: &str) -> Scope {
    Scope { tenant: Tenant::new(tenant).unwrap(), project: Project::new("p").unwrap() }
}

pub(crate) fn user(tenant: &str, user: &str) -> HistoryKey {
    HistoryKey::User(scope(tenant), UserId::new(user).unwrap())
}

pub(crate) fn asked(turn: &str, secs: i64) -> RecentQuestion {
    RecentQuestion {
        turn: TurnId::new(turn).unwrap(),
        text: Arc::from(format!("What is {turn}, naïvely: \0 \u{1f600}?")),
        ts: START.plus_secs(secs),
        vector: Some(Vector::new("model".into(), vec![0.6, -0.8, 0.0, 0.1])),
    }
}

/// The recent turns `secs` seconds after the start.
pub(crate) async fn turns(
    history: &dyn QueryHistory,
    asker: &HistoryKey,
    secs: i64,
) -> Vec<String> {
    let recent = history.recent(asker, START.plus_secs(secs)).await.unwrap();
    recent.into_iter().map(|(asked, _)| asked.turn.to_string()).collect()
}

pub(crate) async fn history_keeps_ten_questions_in_the_window(history: &dyn QueryHistory) {
    let ann = user("acme", "ann");
    for number in 0..12 {
        history.add(&ann, &asked(&format!("t{number}"), number)).await.unwrap();
    }
    let all = turns(history, &ann, 12).await;
    assert_eq!((all.len(), all[0].as_str(), all[9].as_str()), (10, "t11", "t2"));
    // The window is 300 s.
    assert_eq!(turns(history, &ann, 309).await, ["t11", "t10", "t9"]);
    assert_eq!(turns(history, &ann, 312).await, Vec::<String>::new());
}

pub(crate) async fn question_round_trips(history: &dyn QueryHistory) {
    let ann = user("acme", "ann");
    history.add(&ann, &asked("t1", 0)).await.unwrap();
    let recent = history.recent(&ann, START.plus_secs(7)).await.unwrap();
    let (found, age) = &recent[0];
    assert_eq!(*age, Duration::from_secs(7));
    assert_eq!(
        RecentQuestion { vector: None, ..found.clone() },
        RecentQuestion { vector: None, ..asked("t1", 0) }
    );
}

pub(crate) async fn histories_are_separate(history: &dyn QueryHistory) {
    let conversation =
        |id| HistoryKey::Conversation(scope("acme"), ConversationId::new(id).unwrap());
    let other_project = HistoryKey::User(
        Scope { project: Project::new("q").unwrap(), ..scope("acme") },
        UserId::new("ann").unwrap(),
    );
    let askers = [
        user("acme", "ann"),
        user("acme", "Ann"),
        user("bcme", "ann"),
        user("acme", "p:ann"),
        user("acme", ":ann"),
        user("acme", "ann%"),
        user("acme", "ann%25"),
        user("acme", "{ann}"),
        user("acme", "%7Bann%7D"),
        conversation("ann"),
        conversation(":ann"),
        other_project,
    ];
    for (number, asker) in askers.iter().enumerate() {
        history.add(asker, &asked(&format!("t{number}"), 0)).await.unwrap();
    }
    for (number, asker) in askers.iter().enumerate() {
        assert_eq!(turns(history, asker, 1).await, [format!("t{number}")], "{asker:?}");
    }
    assert_eq!(history.forget(&askers[0]).await.unwrap(), 1);
    for (number, asker) in askers.iter().enumerate() {
        assert_eq!(turns(history, asker, 1).await.len(), usize::from(number > 0), "{asker:?}");
    }
}

pub(crate) async fn question_is_removed(history: &dyn QueryHistory) {
    let ann = user("acme", "ann");
    history.add(&ann, &asked("t1", 0)).await.unwrap();
    history.add(&ann, &asked("t2", 1)).await.unwrap();
    // A repeat of the same turn, a little later.
    history.add(&ann, &asked("t1", 2)).await.unwrap();
    history.take_back(&ann, &asked("t1", 2)).await.unwrap();
    assert_eq!(turns(history, &ann, 3).await, ["t2", "t1"]);
    history.take_back(&ann, &asked("t2", 1)).await.unwrap();
    assert_eq!(turns(history, &ann, 3).await, ["t1"]);
    history.take_back(&ann, &asked("t9", 1)).await.unwrap();
    history.take_back(&user("acme", "bob"), &asked("t1", 0)).await.unwrap();
    assert_eq!(turns(history, &ann, 3).await, ["t1"]);
}

pub(crate) async fn forgotten_user_starts_empty(history: &dyn QueryHistory) {
    let ann = user("acme", "ann");
    assert_eq!(history.forget(&ann).await.unwrap(), 0);
    history.add(&ann, &asked("t1", 0)).await.unwrap();
    history.add(&ann, &asked("t2", 1)).await.unwrap();
    assert_eq!(history.forget(&ann).await.unwrap(), 2);
    assert_eq!(turns(history, &ann, 2).await, Vec::<String>::new());
    history.add(&ann, &asked("t3", 2)).await.unwrap();
    assert_eq!(turns(history, &ann, 3).await, ["t3"]);
    assert!(!history.health().away);
}

/// Generates one test per contract function. `$fresh::open(window, most)` returns a guard and the
/// history, or `None` when the server is missing.
macro_rules! history_tests {
    ($fresh:ident) => {
        $crate::query_history::contract::history_tests! { @each $fresh
            history_keeps_ten_questions_in_the_window,
            question_round_trips,
            histories_are_separate,
            question_is_removed,
            forgotten_user_starts_empty,
        }
    };
    (@each $fresh:ident $($name:ident),+ $(,)?) => {$(
        #[tokio::test]
        async fn $name() {
            let window = std::time::Duration::from_secs(300);
            let Some((_place, history)) = $fresh::open(window, 10).await else { return };
            $crate::query_history::contract::$name(&history).await;
        }
    )+};
}

pub(crate) use history_tests;
