//! Privacy settings and profiles.

use model::{Change, Scope, SettingsChange, Tenant};
use serde_json::{Map, Value, json};

use crate::Store;
use crate::contract::scene::{Scene, play, user_id};

fn map(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("{value} is no object") };
    map
}

pub(crate) async fn newest_rule_applies(store: &Store) {
    let here = Scope::default();
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let privacy = |id: &str, days: u32| {
        Scene::new(
            id,
            "t1",
            Change::Settings(SettingsChange::Privacy(map(json!({"retention_days": days})))),
        )
    };
    let profile = |id: &str, plan: &str| {
        Scene::new(id, "t1", Change::Settings(SettingsChange::Profile(map(json!({"plan": plan})))))
            .by("ann")
    };
    play(store, [privacy("p1", 30), privacy("p2", 60).of(&other), privacy("p3", 90)]).await;
    play(store, [profile("a1", "free"), profile("a2", "pro"), Scene::open("t1", "c1")]).await;
    let mut found = store.privacy().await.unwrap();
    found.sort_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
    let days = |days: u32| map(json!({"retention_days": days}));
    assert_eq!(found, [(here.tenant.clone(), days(90)), (other.tenant.clone(), days(60))]);
    let plan =
        async |scope: &Scope, user: &str| store.profile(scope, &user_id(user)).await.unwrap();
    assert_eq!(plan(&here, "ann").await, Some(map(json!({"plan": "pro"}))));
    assert_eq!(plan(&here, "u1").await, None, "no profile is set");
    assert_eq!(plan(&here, "nobody").await, None);
    assert_eq!(plan(&other, "ann").await, None);
    let mut erasure = Scene::new("erasure", "t1", Change::EraseUser(user_id("ann")));
    erasure.event.turn = None;
    play(store, [erasure]).await;
    assert_eq!(plan(&here, "ann").await, None);
}
