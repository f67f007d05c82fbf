//! Labels for calibration.

use model::{Change, Reaction, Scope, VerdictStatus};
use serde_json::json;

use crate::contract::scene::{Scene, play};
use crate::{Label, Store};

/// Neutral reactions are no labels.
pub(crate) async fn labels_need_person_and_machine(store: &Store) {
    use VerdictStatus::{Accepted, Neutral, Rejected};
    for turn in ["t1", "t2", "t3", "t4", "t5"] {
        play(store, [Scene::open(turn, "c1"), Scene::answer(turn)]).await;
    }
    for (turn, status) in [("t1", Rejected), ("t2", Rejected), ("t3", Accepted), ("t4", Neutral)] {
        play(store, [Scene::judge(turn, &format!("m-{turn}"), status, false)]).await;
    }
    let scope = Scope::default();
    assert!(store.labels(&scope, 10).await.unwrap().is_empty());
    play(
        store,
        [
            Scene::react("r1", "t1", Reaction::NotOk),
            Scene::react("r2", "t2", Reaction::Ok),
            Scene::react("r3", "t3", Reaction::Neutral),
            Scene::react("r4", "t4", Reaction::Ok),
            Scene::react("r5", "t5", Reaction::Ok),
            Scene::new("review", "t2", Change::Review(Rejected)),
        ],
    )
    .await;
    let right: Vec<bool> =
        store.labels(&scope, 10).await.unwrap().iter().map(|label: &Label| label.right).collect();
    assert_eq!(right, [true, true], "t1 by its user, t2 by the review that stands above its user");
    assert_eq!(store.labels(&scope, 1).await.unwrap().len(), 1);
}

pub(crate) async fn newest_calibration_applies(store: &Store) {
    for (id, slope) in [("a", 1.0), ("b", 0.5)] {
        let settings = json!({"slope": slope, "offset": 0.0});
        let change = Change::Calibrate(settings.as_object().unwrap().clone());
        play(store, [Scene::new(id, "t1", change)]).await;
    }
    let found = store.calibrations().await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0].scope, &found[0].settings["slope"]), (&Scope::default(), &json!(0.5)));
}
