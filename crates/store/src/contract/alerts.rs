//! Every alert is delivered once.

use model::{Change, Position, Project, Scope, SettingsChange, Tenant};
use serde_json::{Map, json};

use crate::contract::scene::{Scene, at, play};
use crate::{Delivery, Store};

const DAY: i64 = 86_400;

fn alert(id: &str, metric: &str, raised: bool) -> Scene {
    Scene::new(id, "t1", Change::Alert { metric: metric.to_owned(), raised })
}

fn targets(id: &str) -> Scene {
    let settings: Map<_, _> = json!({"min_count": 9}).as_object().unwrap().clone();
    Scene::new(id, "t1", Change::Settings(SettingsChange::Targets(settings)))
}

/// The deliveries due at a second, for alerts cleared at most a day ago.
async fn due(store: &Store, tenant: &Tenant, now: i64) -> Vec<(String, u32)> {
    let found = store.list_due_deliveries(tenant, at(now - DAY), at(now)).await.unwrap();
    found.iter().map(|one| (one.stored.event.id.to_string(), one.attempts)).collect()
}

async fn told(store: &Store, id: &str, attempts: u32, again: Option<i64>, error: Option<&str>) {
    let all =
        store.list_due_deliveries(&Scope::default().tenant, at(-DAY), at(9 * DAY)).await.unwrap();
    let one = all.iter().find(|one| one.stored.event.id.as_str() == id).unwrap();
    let (next_at, error) = (again.map(at), error.map(str::to_owned));
    let delivery = Delivery { attempts, next_at, error };
    store.record_delivery(one.stored.position, delivery).await.unwrap();
}

/// New targets neither cancel pending deliveries nor repeat finished ones.
pub(crate) async fn deliveries_survive_new_targets(store: &Store) {
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

pub(crate) async fn failed_deliveries_are_rescheduled(store: &Store) {
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
    store.reschedule_deliveries(&Tenant::new("other").unwrap(), at(5)).await.unwrap();
    assert_eq!(due(store, &tenant, 5).await, []);
    store.reschedule_deliveries(&tenant, at(5)).await.unwrap();
    assert_eq!(due(store, &tenant, 5).await, [("failing".into(), 0), ("standing".into(), 0)]);
}

pub(crate) async fn active_alerts_by_tenant_or_for_all(store: &Store) {
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

pub(crate) async fn alerts_list_their_delivery(store: &Store) {
    let usual = Scope::default();
    let second = Scope { project: Project::new("second").unwrap(), ..usual.clone() };
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..usual.clone() };
    play(store, [alert("a+", "error_rate", true), alert("a-", "error_rate", false)]).await;
    play(store, [alert("b+", "retry_rate", true), alert("c+", "cost", true).of(&second)]).await;
    told(store, "a+", 3, Some(100), Some("refused")).await;
    let list = async |tenant: &Tenant, project: Option<&Project>, limit: usize| {
        let id = |stored: &Option<crate::StoredEvent>| {
            stored.as_ref().map_or(String::new(), |stored| stored.event.id.to_string())
        };
        let found = store.alerts(tenant, project, limit).await.unwrap();
        let shown = found.iter().map(|one| {
            let said = format!("{} {}", id(&one.raised), id(&one.cleared));
            (one.scope.clone(), one.metric.clone(), said, one.told.clone())
        });
        shown.collect::<Vec<_>>()
    };
    let tried = Delivery { attempts: 3, next_at: Some(at(100)), error: Some("refused".into()) };
    let row = |scope: &Scope, metric: &str, said: &str, told: Option<Delivery>| {
        (scope.clone(), metric.to_owned(), said.to_owned(), told)
    };
    let all = [
        row(&second, "cost", "c+ ", None),
        row(&usual, "retry_rate", "b+ ", None),
        row(&usual, "error_rate", "a+ a-", Some(tried)),
    ];
    assert_eq!(list(&usual.tenant, None, 9).await, all);
    assert_eq!(list(&usual.tenant, None, 2).await, all[..2]);
    assert_eq!(list(&usual.tenant, Some(&usual.project), 9).await, all[1..]);
    assert_eq!(list(&other.tenant, None, 9).await, []);
    let newest =
        |metric: &str, position: u64, stands: bool| (metric.to_owned(), Position(position), stands);
    let known = [newest("error_rate", 1, false), newest("retry_rate", 3, true)];
    assert_eq!(store.newest_alerts(&usual).await.unwrap(), known);
    play(store, [alert("again", "error_rate", true)]).await;
    let known = [newest("error_rate", 5, true), newest("retry_rate", 3, true)];
    assert_eq!(store.newest_alerts(&usual).await.unwrap(), known);
    assert_eq!(store.newest_alerts(&other).await.unwrap(), []);
}

pub(crate) async fn newest_targets_apply(store: &Store) {
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let mut first = targets("first");
    first.change = Change::Settings(SettingsChange::Targets(Map::new()));
    assert_eq!(store.targets().await.unwrap(), []);
    play(store, [first, targets("theirs").of(&other), targets("second")]).await;
    let mut found = store.targets().await.unwrap();
    found.sort_by_key(|one| one.position);
    let shown: Vec<_> =
        found.iter().map(|one| (one.tenant.as_str(), one.position.0, &one.settings)).collect();
    let settings: Map<_, _> = json!({"min_count": 9}).as_object().unwrap().clone();
    assert_eq!(shown, [("other", 2, &settings), ("default", 3, &settings)]);
}
