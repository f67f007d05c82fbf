//! Contract of retention.

use model::{
    Change, Claim, ClaimSpace, Event, EventId, Mac, Opening, Outcome, Position, Project, Scope,
    Tenant, Write,
};
use sql::{Connection, params_from_iter};
use testkit::claim;

use crate::contract::scene::{Scene, at, play, turn_id, user_id};
use crate::contract::{experiments, quality, rebuild};
use crate::event_rows::newest_position;
use crate::projections::{PROJECTIONS, baseline, baseline_positions};
use crate::row_keys::Key;
use crate::{ChangesOf, Rebuild, Rebuilt, Store, StoreError};

/// Moves the baseline of every project to the head.
pub(crate) async fn cover_all_events(store: &Store, changes_of: ChangesOf) {
    let cover = move |connection: &mut Connection| {
        let head = newest_position(connection)?;
        for project in connection.read_rows::<Key>("SELECT key FROM projects", ())? {
            while !baseline::advance(connection, project, head, changes_of)? {}
        }
        Ok(())
    };
    store.writer.run(cover).await.unwrap();
}

fn arrived(scope: &Scope, id: &str, secs: i64) -> Write {
    let event = Event { received_at: at(secs), ..testkit::event(scope, id) };
    Write { claims: vec![claim(id, 1)], ..Write::new(testkit::redacted(event), Vec::new()) }
}

pub(crate) async fn old_events_are_found_and_dropped(store: &Store) {
    let own = Scope::default();
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let log = [(&own, "old", -10), (&other, "theirs", -10), (&own, "new", 10), (&own, "late", -5)];
    for (scope, id, secs) in log {
        store.commit(vec![arrived(scope, id, secs)]).await.unwrap();
    }
    let old = async |scope: &Scope, upto: Option<u64>| -> Vec<u64> {
        let found = store.old_events(&scope.tenant, at(0), upto.map(Position)).await.unwrap();
        found.into_iter().map(|position| position.0).collect()
    };
    assert_eq!(old(&own, None).await, [1, 4]);
    assert_eq!(old(&own, Some(3)).await, [1]);
    assert_eq!(old(&other, None).await, [2]);
    let nobody = Scope { tenant: Tenant::new("nobody").unwrap(), ..Scope::default() };
    assert!(old(&nobody, None).await.is_empty());
    let gone = || vec![Position(1), Position(4)];
    assert_eq!(store.drop_events(gone(), |_| Vec::new()).await.unwrap(), 2);
    assert_eq!(store.drop_events(gone(), |_| Vec::new()).await.unwrap(), 0);
    assert!(old(&own, None).await.is_empty());
    store.commit(vec![arrived(&own, "next", 10)]).await.unwrap();
    let left = store.tail(Position(0), 9).await.unwrap();
    let left: Vec<u64> = left.iter().map(|stored| stored.position.0).collect();
    assert_eq!(left, [2, 3, 5], "no position is used twice");
}

pub(crate) async fn dropped_event_is_still_a_repeat(store: &Store) {
    let scope = Scope::default();
    let keyed = |id: &str, body: u8| {
        let mut write = arrived(&scope, id, -10);
        write.claims[0].mac = Some(Mac([body; 16]));
        let mac = write.claims[0].mac;
        write.claims.push(Claim { space: ClaimSpace::RequestKey, id: "k".into(), mac });
        write
    };
    store.commit(vec![keyed("old", 1), arrived(&scope, "new", 10)]).await.unwrap();
    assert_eq!(store.drop_events(vec![Position(1)], |_| Vec::new()).await.unwrap(), 1);
    let again = |id: &str| {
        let id = EventId::new(id).unwrap();
        Outcome::Replayed { position: Position(1), id }
    };
    let outcomes = store
        .commit(vec![arrived(&scope, "old", -10), keyed("other", 1), keyed("other", 2)])
        .await
        .unwrap();
    let conflict = Outcome::Conflict(ClaimSpace::RequestKey);
    assert_eq!(outcomes, [again("old"), again("dropped-1"), conflict]);
    assert_eq!(store.head(), Position(2));
}

fn answered_turn() -> [Scene; 2] {
    [Scene::open("t1", "c1"), Scene::answer("t1")]
}

fn changes_of(event: &Event) -> Vec<Change> {
    let same = |scene: &Scene| scene.event.id == event.id;
    answered_turn().into_iter().filter(same).map(|scene| scene.change).collect()
}

pub(crate) async fn turn_survives_its_events(store: &Store) {
    let scope = Scope::default();
    play(store, answered_turn()).await;
    let both = vec![Position(1), Position(2)];
    assert_eq!(store.drop_events(both, changes_of).await.unwrap(), 2);
    let found = store.exchanges_by_id(&scope, vec![turn_id("t1")]).await.unwrap().remove(0);
    assert_eq!((found.opening, found.completion), (Opening::default(), None));
    assert_eq!((found.ts, found.user), (at(0), Some(user_id("u1"))));
    let head = store.turn_head(&scope, &turn_id("t1")).await.unwrap().unwrap();
    assert!(head.completed && !head.erased, "{head:?}");
}

/// Also after many newer events.
pub(crate) async fn old_events_are_found_in_batches(store: &Store) {
    let scope = Scope::default();
    let some = |name: &str, secs: i64| -> Vec<Write> {
        (0..600).map(|n| arrived(&scope, &format!("{name}{n}"), secs)).collect()
    };
    store.commit(some("new", 10)).await.unwrap();
    store.commit(some("old", -10)).await.unwrap();
    let mut parts = Vec::new();
    loop {
        let old = store.old_events(&scope.tenant, at(0), None).await.unwrap();
        if old.is_empty() {
            break;
        }
        parts.push(store.drop_events(old, |_| Vec::new()).await.unwrap());
    }
    assert!(parts.len() > 1 && parts.iter().sum::<usize>() == 600, "{parts:?}");
    let left = store.tail(Position(0), 2000).await.unwrap();
    assert_eq!(left.last().map(|stored| stored.position), Some(Position(600)));
}

pub(crate) async fn oldest_events_of_every_project_come_first(store: &Store) {
    let own = Scope::default();
    let second = Scope { project: Project::new("second").unwrap(), ..Scope::default() };
    let mut log: Vec<Write> = (0..600).map(|n| arrived(&own, &format!("new{n}"), 10)).collect();
    log.push(arrived(&own, "late", -10));
    log.push(arrived(&second, "old", -10));
    store.commit(log).await.unwrap();
    let old = async || store.old_events(&own.tenant, at(0), None).await.unwrap();
    assert_eq!(old().await, [Position(602)]);
    store.drop_events(vec![Position(602)], |_| Vec::new()).await.unwrap();
    assert_eq!(old().await, [Position(601)]);
}

/// The baseline of each project, by its name.
async fn baselines(store: &Store) -> Vec<(String, u64)> {
    let read = |connection: &Connection| {
        let positions = baseline_positions::positions(connection)?;
        let mut found: Vec<(String, u64)> = connection
            .read_rows::<(Key, String)>("SELECT key, tenant || '/' || project FROM projects", ())?
            .into_iter()
            .filter_map(|(key, name)| Some((name, positions.get(&key)?.0)))
            .collect();
        found.sort_unstable();
        Ok(found)
    };
    store.pool.run(read).await.unwrap()
}

pub(crate) async fn only_projects_with_dropped_events_get_a_baseline(store: &Store) {
    let other = Scope { project: Project::new("other").unwrap(), ..Scope::default() };
    rebuild::play_everything(store).await;
    let mut theirs = rebuild::scenes_of(&other);
    theirs.truncate(9);
    play(store, theirs).await;
    let rebuild = async || {
        let progress = Box::new(|_, _| {});
        store.rebuild(Rebuild { changes_of: rebuild::changes_of, progress }).await.unwrap()
    };
    assert_eq!(rebuild().await, Rebuilt { events: 20, changed: false });
    assert!(baselines(store).await.is_empty());
    for (gone, position) in [(vec![1, 3, 4], 4), (vec![2], 4), (vec![9, 7], 9)] {
        let gone: Vec<Position> = gone.into_iter().map(Position).collect();
        let count = gone.len();
        assert_eq!(store.drop_events(gone, rebuild::changes_of).await.unwrap(), count);
        assert_eq!(baselines(store).await, [("default/default".to_owned(), position)]);
        let rebuilt = rebuild().await;
        assert_eq!(rebuilt, Rebuilt { events: 20 - position, changed: false });
    }
    let last = vec![Position(12), Position(20)];
    assert_eq!(store.drop_events(last, rebuild::changes_of).await.unwrap(), 2);
    let both = [("default/default".to_owned(), 9), ("default/other".to_owned(), 20)];
    assert_eq!(baselines(store).await, both);
    assert_eq!(rebuild().await, Rebuilt { events: 2, changed: false });
}

pub(crate) async fn every_projection_belongs_to_a_project(store: &Store) {
    quality::play_anything(store).await;
    cover_all_events(store, quality::changes_of).await;
    check_rows_of_projects(store).await;
}

pub(crate) async fn experiment_rows_belong_to_a_project(store: &Store) {
    experiments::play_all(store).await;
    cover_all_events(store, experiments::changes_of).await;
    check_rows_of_projects(store).await;
}

/// The rows of all projects are the rows of the table.
async fn check_rows_of_projects(store: &Store) {
    let count = |connection: &Connection, from: &str, keys: &[Key]| -> Result<i64, StoreError> {
        let keys = params_from_iter(keys.iter().copied());
        Ok(connection.query_row(&format!("SELECT count(*) FROM {from}"), keys, |row| row.get(0))?)
    };
    let check = move |connection: &Connection| {
        let projects: Vec<Key> = connection.read_rows("SELECT key FROM projects", ())?;
        for (table, _) in PROJECTIONS {
            for table in [table.to_owned(), format!("baseline_{table}")] {
                let rows =
                    baseline_positions::project_rows(table.trim_start_matches("baseline_"), "?1");
                let mut found = 0;
                for project in &projects {
                    found += count(connection, &format!("{table} WHERE {rows}"), &[*project])?;
                }
                assert_eq!(found, count(connection, &table, &[])?, "{table}");
            }
        }
        Ok(())
    };
    store.pool.run(check).await.unwrap();
}
