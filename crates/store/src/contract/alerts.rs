//! Every alert is told to whoever wants to be told, once.

use event::{Change, Project, Scope, Tenant};
use serde_json::{Map, json};

use super::scene::{Scene, at, play};
use crate::{Delivery, Store};

const DAY: i64 = 86_400;

fn alert(id: &str, metric: &str, raised: bool) -> Scene {
    Scene::new(id, "t1", Change::Alert { metric: metric.to_owned(), raised })
}

fn targets(id: &str) -> Scene {
    let settings: Map<_, _> = json!({"min_count": 9}).as_object().unwrap().clone();
    Scene::new(id, "t1", Change::SetTargets(settings))
}

/// What is to be told at a second, of an alert no longer over than a day.
async fn due(store: &dyn Store, tenant: &Tenant, now: i64) -> Vec<(String, u32)> {
    let found = store.undelivered(tenant, at(now - DAY), at(now)).await.unwrap();
    found.iter().map(|one| (one.stored.event.id.to_string(), one.attempts)).collect()
}

async fn told(store: &dyn Store, id: &str, attempts: u32, again: Option<i64>, error: Option<&str>) {
    let all = store.undelivered(&Scope::default().tenant, at(-DAY), at(9 * DAY)).await.unwrap();
    let one = all.iter().find(|one| one.stored.event.id.as_str() == id).unwrap();
    let (next_at, error) = (again.map(at), error.map(str::to_owned));
    let delivery = Delivery { attempts, next_at, error };
    store.note_delivery(one.stored.position, delivery).await.unwrap();
}

/// New targets take nothing away that is still to be told, and bring nothing back that was.
pub(crate) async fn what_is_to_be_told_outlasts_new_targets(store: &dyn Store) {
    let tenant = Scope::default().tenant;
    let other = Tenant::new("other").unwrap();
    play(store, [alert("old+", "error_rate", true), alert("old-", "error_rate", false)]).await;
    play(store, [alert("stands", "retry_rate", true)]).await;
    play(store, [alert("new+", "error_rate", true), targets("changed")]).await;
    play(store, [alert("new-", "error_rate", false).at(2 * DAY)]).await;
    let one = |id: &str, attempts| (id.to_owned(), attempts);
    let all = [one("stands", 0), one("new+", 0), one("new-", 0)];
    assert_eq!(due(store, &tenant, 2 * DAY).await, all, "what came and went long ago is no news");
    assert_eq!(due(store, &other, 2 * DAY).await, []);
    told(store, "stands", 1, None, None).await;
    told(store, "new+", 3, Some(2 * DAY + 100), Some("refused")).await;
    told(store, "new-", 17, None, Some("given up")).await;
    play(store, [targets("again")]).await;
    assert_eq!(due(store, &tenant, 2 * DAY + 99).await, []);
    assert_eq!(due(store, &tenant, 2 * DAY + 100).await, [one("new+", 3)]);
    assert_eq!(due(store, &tenant, 8 * DAY).await, [one("new+", 3)], "also when it became old");
}

/// Somebody else is told from now on.
pub(crate) async fn what_could_not_be_told_is_tried_anew(store: &dyn Store) {
    let tenant = Scope::default().tenant;
    for metric in ["done", "failing", "standing", "over"] {
        play(store, [alert(metric, metric, true)]).await;
    }
    told(store, "done", 1, None, None).await;
    told(store, "failing", 5, Some(999), Some("refused")).await;
    told(store, "standing", 17, None, Some("given up")).await;
    told(store, "over", 17, None, Some("given up")).await;
    play(store, [alert("over-", "over", false)]).await;
    told(store, "over-", 1, None, None).await;
    store.tell_anew(&Tenant::new("other").unwrap(), at(5)).await.unwrap();
    assert_eq!(due(store, &tenant, 5).await, []);
    store.tell_anew(&tenant, at(5)).await.unwrap();
    assert_eq!(due(store, &tenant, 5).await, [("failing".into(), 0), ("standing".into(), 0)]);
}

/// What stands is known of all projects at once.
pub(crate) async fn what_stands_is_told_of_one_tenant_or_of_all(store: &dyn Store) {
    let usual = Scope::default();
    let second = Scope { project: Project::new("second").unwrap(), ..usual.clone() };
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..usual.clone() };
    play(store, [alert("a", "retry_rate", true), alert("b", "error_rate", true)]).await;
    play(store, [alert("c", "over", true), alert("d", "over", false)]).await;
    play(store, [alert("e", "again", true), alert("f", "again", false)]).await;
    play(store, [alert("g", "again", true), alert("h", "error_rate", true).of(&second)]).await;
    play(store, [alert("i", "error_rate", true).of(&other)]).await;
    let one = |scope: &Scope, metric: &str| (scope.clone(), metric.to_owned());
    let own = [
        one(&usual, "again"),
        one(&usual, "error_rate"),
        one(&usual, "retry_rate"),
        one(&second, "error_rate"),
    ];
    assert_eq!(store.standing_alerts(Some(&usual.tenant)).await.unwrap(), own);
    let theirs = [one(&other, "error_rate")];
    assert_eq!(store.standing_alerts(Some(&other.tenant)).await.unwrap(), theirs);
    assert_eq!(store.standing_alerts(None).await.unwrap(), [&own[..], &theirs[..]].concat());
}
