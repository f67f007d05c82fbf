//! Decisions and outcomes.

use model::{Change, DecisionChange, Position, Scope};

use crate::Store;
use crate::contract::scene::{Scene, conversation_id, decision_id, play};

pub(crate) async fn decision_has_its_newest_outcome(store: &Store) {
    let scope = Scope::default();
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
    let make = |id: &str, decision: &str| {
        Scene::new(
            id,
            "t1",
            Change::Decision(DecisionChange::Make {
                id: decision_id(decision),
                is_sql: false,
                executed: None,
            }),
        )
        .inside("c1")
    };
    let shown = async || {
        let found = store.decision(&scope, &decision_id("d1")).await.unwrap()?;
        let settled = found.settled.map(|stored| stored.event.id.to_string());
        Some((found.made.event.id.to_string(), settled))
    };
    play(store, [settle("early")]).await;
    assert_eq!(shown().await, None);
    play(store, [make("made", "d1")]).await;
    assert_eq!(shown().await, Some(("made".into(), Some("early".into()))));
    play(store, [settle("late"), make("second", "d2")]).await;
    assert_eq!(shown().await, Some(("made".into(), Some("late".into()))));
    let conversation = conversation_id("c1");
    let page = async |after: u64, limit: usize| {
        let after = Position(after);
        let found =
            store.conversation_decisions(&scope, &conversation, after, limit).await.unwrap();
        found.iter().map(|one| (one.id.to_string(), one.made.position.0)).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 10).await, [("d1".to_owned(), 2), ("d2".to_owned(), 4)]);
    assert_eq!(page(0, 1).await, [("d1".to_owned(), 2)]);
    assert_eq!(page(2, 10).await, [("d2".to_owned(), 4)]);
    let unknown = conversation_id("unknown");
    let none = store.conversation_decisions(&scope, &unknown, Position(0), 10).await.unwrap();
    assert!(none.is_empty(), "{none:?}");
}
