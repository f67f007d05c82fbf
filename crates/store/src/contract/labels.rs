//! Labels for calibration.

use model::{Calibration, Change, Reaction, Scope, SettingsChange, TurnChange, VerdictStatus};

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
            Scene::new("review", "t2", Change::Turn(TurnChange::Review(Rejected))),
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
        let calibration = Calibration { slope, offset: 0.0, labels: 9, error: (0.5, 0.25) };
        let change = Change::Settings(SettingsChange::Calibration(calibration));
        play(store, [Scene::new(id, "t1", change)]).await;
    }
    let found = store.calibrations().await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0].scope, found[0].calibration.slope), (&Scope::default(), 0.5));
}
