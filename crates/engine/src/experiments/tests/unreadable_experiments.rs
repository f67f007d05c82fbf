//! Unreadable experiments do not block others.

use model::{ExperimentRule, ExperimentUnit, Position};
use serde_json::json;

use super::test_world::{TestWorld, completion, parse_id};
use crate::RawCompletion;

const UNITS: u64 = 260;

/// Starts an experiment whose treatment crosses its guardrail.
async fn run_harmful_experiment(world: &TestWorld, id: &str) {
    let more = json!({"metric": "satisfaction", "guardrails": [{"metric": "error_rate", "limit": 0.05}],
        "variants": [{"name": "control"}, {"name": "treatment"}],
        "rollout": {"steps": [50, 100], "margin": 0.5}});
    world.start_experiment(id, &more).await;
}

/// Starts an experiment with an invalid definition.
async fn run_unreadable_experiment(world: &TestWorld, id: &str) {
    let (experiment_id, unit) = (parse_id(id), ExperimentUnit::User);
    let definition = json!({"metric": 7}).as_object().cloned().unwrap();
    world.store_rule(ExperimentRule::Defined { experiment_id, unit, definition }).await;
    let (action, status) = ("start".to_owned(), "RUNNING".to_owned());
    world.store_rule(ExperimentRule::Status { experiment_id: parse_id(id), action, status }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_experiment_does_not_block_the_others() {
    let world = TestWorld::new().await;
    run_unreadable_experiment(&world, "a-nonsense").await;
    run_harmful_experiment(&world, "c-sound").await;
    run_unreadable_experiment(&world, "d-nonsense").await;
    for n in 0..UNITS {
        let unit = format!("u{n}");
        let variant = world.assign_variant("c-sound", &unit).await;
        let failed = RawCompletion { status: Some("error".into()), ..RawCompletion::default() };
        world
            .complete_turn(&unit, 0, if variant == "treatment" { failed } else { completion(1) })
            .await;
    }
    let nonsense =
        world.engine.experiments.load_experiment(&world.scope, &parse_id("a-nonsense")).await;
    assert!(matches!(nonsense, Err(crate::EngineError::NotFound(_))), "{nonsense:?}");

    assert_eq!(world.engine.experiments.update_all_shares(None).await.unwrap(), 1);
    assert!(world.load_view("c-sound").await.is_rolled_back());
    assert_eq!(world.assign_variant("c-sound", "u0").await, "control");
    let refused =
        world.engine.experiments.assign(&world.scope, &parse_id("a-nonsense"), "u0").await;
    assert!(matches!(refused, Err(crate::EngineError::NotFound(_))), "{refused:?}");
}

#[tokio::test]
async fn list_continues_past_unreadable_experiments() {
    let world = TestWorld::new().await;
    for id in ["a-nonsense", "b-nonsense"] {
        run_unreadable_experiment(&world, id).await;
    }
    run_harmful_experiment(&world, "c-sound").await;
    run_unreadable_experiment(&world, "d-nonsense").await;
    run_harmful_experiment(&world, "e-sound").await;
    let page = async |after, limit| {
        let found =
            world.engine.experiments.list_experiments(&world.scope, after, limit).await.unwrap();
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
