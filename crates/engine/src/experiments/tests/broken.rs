//! Experiments that cannot be read do not keep others from moving.

use model::{ExperimentRule, ExperimentUnit, Position};
use serde_json::json;

use super::world::{World, answer, id_of};
use crate::RawCompletion;

const UNITS: u64 = 260;

/// A treatment that fails, under a guardrail.
async fn harmful(world: &World, id: &str) {
    let more = json!({"metric": "satisfaction", "guardrails": [{"metric": "error_rate", "limit": 0.05}],
        "variants": [{"name": "control"}, {"name": "treatment"}],
        "rollout": {"steps": [50, 100], "margin": 0.5}});
    world.run(id, &more).await;
}

/// A definition of nothing, that runs.
async fn nonsense(world: &World, id: &str) {
    let (experiment_id, unit) = (id_of(id), ExperimentUnit::User);
    let definition = json!({"metric": 7}).as_object().cloned().unwrap();
    world.decide(ExperimentRule::Defined { experiment_id, unit, definition }).await;
    let (action, status) = ("start".to_owned(), "RUNNING".to_owned());
    world.decide(ExperimentRule::Status { experiment_id: id_of(id), action, status }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_experiment_does_not_stop_the_others() {
    let world = World::new().await;
    nonsense(&world, "a-nonsense").await;
    harmful(&world, "c-sound").await;
    nonsense(&world, "d-nonsense").await;
    for n in 0..UNITS {
        let unit = format!("u{n}");
        let variant = world.assign("c-sound", &unit).await;
        let failed = RawCompletion { status: Some("error".into()), ..RawCompletion::default() };
        world.turn(&unit, 0, if variant == "treatment" { failed } else { answer(1) }).await;
    }
    let nonsense = world.engine.experiments.experiment(&world.scope, &id_of("a-nonsense")).await;
    assert!(matches!(nonsense, Err(crate::EngineError::NotFound(_))), "{nonsense:?}");

    assert_eq!(world.engine.experiments.move_experiments(None).await.unwrap(), 1);
    assert!(world.view("c-sound").await.is_rolled_back());
    assert_eq!(world.assign("c-sound", "u0").await, "control");
    let refused = world.engine.experiments.assign(&world.scope, &id_of("a-nonsense"), "u0").await;
    assert!(matches!(refused, Err(crate::EngineError::NotFound(_))), "{refused:?}");
}

#[tokio::test]
async fn a_page_goes_on_behind_broken_experiments() {
    let world = World::new().await;
    for id in ["a-nonsense", "b-nonsense"] {
        nonsense(&world, id).await;
    }
    harmful(&world, "c-sound").await;
    nonsense(&world, "d-nonsense").await;
    harmful(&world, "e-sound").await;
    let page = async |after, limit| {
        let found = world.engine.experiments.experiments(&world.scope, after, limit).await.unwrap();
        let ids: Vec<String> = found.iter().map(|view| view.id.to_string()).collect();
        (ids, found.last().map(|view| view.position))
    };
    let (first, last) = page(Position(0), 2).await;
    assert_eq!(first, ["c-sound", "e-sound"]);
    assert!(page(last.unwrap(), 2).await.0.is_empty());
    let (one, last) = page(Position(0), 1).await;
    assert_eq!(one, ["c-sound"]);
    assert_eq!(page(last.unwrap(), 1).await.0, ["e-sound"]);
}
