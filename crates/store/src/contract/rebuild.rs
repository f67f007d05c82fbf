//! Contract of a rebuild.

use model::{Change, DecisionChange, Event, Reaction, Scope, TurnChange, Vector, VerdictStatus};

use crate::contract::scene::{Scene, decision_id, play};
use crate::{Rebuild, Rebuilt, Store};

fn scenes() -> Vec<Scene> {
    vec![
        Scene::react("early", "t1", Reaction::Ok).inside("elsewhere"),
        Scene::react("named", "t1", Reaction::Ok).by("u2"),
        Scene::open("t1", "c1"),
        Scene::answer("t1"),
        Scene::new(
            "vector",
            "t1",
            Change::Turn(TurnChange::SetVector(Vector::new("m".into(), vec![1.0, 2.0]))),
        ),
        Scene::judge("t1", "t2", VerdictStatus::Rejected, false),
        Scene::react("again", "t1", Reaction::NotOk),
        Scene::infer("guess", "t1", Reaction::NotOk).at(90_000),
        Scene::clear("clear", "t1").by("u2"),
        Scene::new(
            "settled",
            "t1",
            Change::Decision(DecisionChange::Settle {
                id: decision_id("d1"),
                executed: Some(true),
            }),
        ),
        Scene::new(
            "made",
            "t1",
            Change::Decision(DecisionChange::Make {
                id: decision_id("d1"),
                is_sql: true,
                executed: Some(false),
            }),
        )
        .inside("c1"),
    ]
}

/// The scenes in another project.
pub(crate) fn scenes_of(scope: &Scope) -> Vec<Scene> {
    let mut scenes = scenes();
    scenes.iter_mut().for_each(|scene| scene.event.scope = scope.clone());
    scenes
}

/// The changes of a scene, found by the event's id.
pub(crate) fn changes_of(event: &Event) -> Vec<Change> {
    let same = |scene: &Scene| scene.event.id == event.id;
    scenes().into_iter().filter(same).map(|scene| scene.change).collect()
}

pub(crate) async fn play_everything(store: &Store) {
    play(store, scenes()).await;
}

pub(crate) async fn rebuild_changes_nothing(store: &Store) {
    play_everything(store).await;
    let (told, progress) = std::sync::mpsc::channel();
    let progress_told = Box::new(move |done, of| told.send((done, of)).unwrap());
    let rebuilt = store.rebuild(Rebuild { changes_of, progress: progress_told }).await.unwrap();
    assert_eq!(rebuilt, Rebuilt { events: 11, changed: false });
    assert_eq!(progress.iter().last(), Some((11, 11)));
    let rebuild = Rebuild { changes_of: |_| Vec::new(), progress: Box::new(|_, _| {}) };
    assert!(store.rebuild(rebuild).await.unwrap().changed, "no changes, no projections");
}
