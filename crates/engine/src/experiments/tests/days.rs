//! How sure one was day by day is told of every day, or it is said that it cannot be.

use serde_json::json;

use super::world::World;

const DAYS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_days_than_are_read_are_not_taken_for_none() {
    let world = World::new().await;
    world.run("x", &json!({"metric": "satisfaction"})).await;
    let told = async |most: usize| {
        let view = world.view("x").await;
        let days =
            world.engine.experiments.sequence_within(&world.scope, &view, most).await.unwrap();
        days.map(|days| days.len())
    };
    assert_eq!(told(DAYS).await, Some(0));
    for day in 0..DAYS {
        world.assign("x", &format!("u{day}")).await;
        world.clock.advance_secs(86_400);
    }
    assert_eq!(told(DAYS).await, Some(DAYS));
    assert_eq!(told(DAYS - 1).await, None);
}
