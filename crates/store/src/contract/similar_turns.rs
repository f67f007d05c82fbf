//! Contract of similar turns.

use model::{Change, Reaction, Scope, Tenant, TurnChange, Vector, VerdictStatus};

use crate::contract::scene::{Scene, play, user_id};
use crate::{SimilarQuery, SimilarTurn, SimilarTurns, Store, StoredExchange};

fn vector(values: &[f32]) -> Vector {
    Vector::new("m".into(), values.to_vec())
}

fn asked(turn: &str, values: &[f32]) -> Scene {
    Scene::new(&format!("vector-{turn}"), turn, Change::Turn(TurnChange::SetVector(vector(values))))
}

async fn search(store: &Store, query: SimilarQuery) -> Vec<(String, VerdictStatus)> {
    // The index loads in the background.
    loop {
        let SimilarTurns { turns, complete, .. } = store.similar(query.clone()).await.unwrap();
        if complete {
            let numbers = turns.iter().map(|turn| turn.number).collect();
            let found = store.found(&query.scope, numbers).await.unwrap();
            let told = |(found, turn): (Option<StoredExchange>, SimilarTurn)| {
                let exchange = found.unwrap();
                assert_eq!(exchange.standing.status, turn.status);
                (exchange.turn.to_string(), turn.status)
            };
            return found.into_iter().zip(turns).map(told).collect();
        }
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn similar_answered_turns_are_found(store: &Store) {
    use VerdictStatus::{Accepted, Neutral, Rejected};
    let query = SimilarQuery {
        scope: Scope::default(),
        vector: vector(&[1.0, 0.0, 0.0]),
        most: 5,
        floor: 0.5,
        user: None,
        intent: None,
    };
    assert!(search(store, query.clone()).await.is_empty());
    for (turn, values) in
        [("t1", [1.0, 0.1, 0.0]), ("t2", [1.0, 0.3, 0.0]), ("t3", [0.0, 1.0, 0.0])]
    {
        play(store, [Scene::open(turn, "c1"), asked(turn, &values)]).await;
        assert!(!search(store, query.clone()).await.iter().any(|(id, _)| id == turn), "unanswered");
        play(store, [Scene::answer(turn)]).await;
    }
    let found = |turn: &str, status| (turn.to_owned(), status);
    assert_eq!(search(store, query.clone()).await, [found("t1", Neutral), found("t2", Neutral)]);
    play(store, [Scene::react("bad", "t1", Reaction::NotOk)]).await;
    play(store, [Scene::react("good", "t2", Reaction::Ok)]).await;
    let taken = [found("t2", Accepted), found("t1", Rejected)];
    assert_eq!(search(store, query.clone()).await, taken);
    let by = |user: &str| SimilarQuery { user: Some(user_id(user)), ..query.clone() };
    assert_eq!(search(store, by("u1")).await, taken);
    assert!(search(store, by("nobody")).await.is_empty());
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    assert!(search(store, SimilarQuery { scope: other.clone(), ..query.clone() }).await.is_empty());
    let numbers: Vec<_> =
        store.similar(query.clone()).await.unwrap().turns.iter().map(|turn| turn.number).collect();
    assert_eq!(store.found(&other, numbers.clone()).await.unwrap(), vec![None; 2], "no such scope");
    play(store, [Scene::open("theirs", "c1").of(&other)]).await;
    assert_eq!(store.found(&other, numbers).await.unwrap(), vec![None; 2], "not theirs");
    let elsewhere = Vector::new("another model".into(), vec![1.0, 0.0, 0.0]);
    assert!(search(store, SimilarQuery { vector: elsewhere, ..query }).await.is_empty());
}

pub(crate) async fn correction_is_found_by_the_corrected_question(store: &Store) {
    play(store, [Scene::open("t1", "c1"), asked("t1", &[1.0, 0.0, 0.0]), Scene::answer("t1")])
        .await;
    play(store, [Scene::open("t2", "c1"), asked("t2", &[0.0, 1.0, 0.0])]).await;
    play(store, [Scene::judge("t1", "t2", VerdictStatus::Rejected, false), Scene::answer("t2")])
        .await;
    let query = SimilarQuery {
        scope: Scope::default(),
        vector: vector(&[1.0, 0.0, 0.0]),
        most: 5,
        floor: 0.6,
        user: None,
        intent: None,
    };
    let found = search(store, query).await;
    assert_eq!(found[0].0, "t2", "{found:?}");
}

/// Also for a caller that knows the removed turn numbers.
pub(crate) async fn removed_tenant_is_not_found(store: &Store) {
    for turn in ["t1", "t2"] {
        let answered =
            [Scene::open(turn, "c1"), asked(turn, &[1.0, 0.0, 0.0]), Scene::answer(turn)];
        play(store, answered).await;
    }
    store.remove_tenant(&Scope::default().tenant).await.unwrap();
    let another = [Scene::open("n1", "c1"), asked("n1", &[0.0, 1.0, 0.0]), Scene::answer("n1")];
    play(store, another).await;
    let query = SimilarQuery {
        scope: Scope::default(),
        vector: vector(&[1.0, 0.0, 0.0]),
        most: 5,
        floor: 0.5,
        user: None,
        intent: None,
    };
    assert!(search(store, query).await.is_empty());
}
