//! A sequence contains every day, or is refused.

use serde_json::json;

use super::test_world::TestWorld;

const DAYS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sequence_longer_than_the_row_limit_returns_none() {
    let world = TestWorld::new().await;
    world.start_experiment("x", &json!({"metric": "satisfaction"})).await;
    let days = async |most: usize| {
        let view = world.load_view("x").await;
        let days = world.engine.experiments.load_sequence(&world.scope, &view, most).await.unwrap();
        days.map(|days| days.len())
    };
    assert_eq!(days(DAYS).await, Some(0));
    for day in 0..DAYS {
        world.assign_variant("x", &format!("u{day}")).await;
        world.clock.advance_secs(86_400);
    }
    assert_eq!(days(DAYS).await, Some(DAYS));
    assert_eq!(days(DAYS - 1).await, None);
}
