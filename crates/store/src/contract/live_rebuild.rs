//! Contract of a rebuild while the store is in use.

use std::cell::Cell;
use std::sync::mpsc;
use std::time::Duration;

use model::{Change, Event, Position, Scope, Tenant};
use tokio::sync::mpsc::unbounded_channel;

use crate::contract::rebuild;
use crate::contract::scene::{Scene, play, turn_id, user_id};
use crate::projections::baseline::ChangesOf;
use crate::{Rebuild, Rebuilt, Store};

const PATIENCE: Duration = Duration::from_secs(60);

fn later_scenes() -> Vec<Scene> {
    vec![
        Scene::open("t8", "c8").by("u8"),
        Scene::answer("t8"),
        Scene::react("thanks", "t8", model::Reaction::Ok).by("u8"),
        Scene::react("no thanks", "t1", model::Reaction::NotOk).by("u8"),
    ]
}

fn changes_of(event: &Event) -> Vec<Change> {
    let same = |scene: &Scene| scene.event.id == event.id;
    let later = later_scenes().into_iter().filter(same).map(|scene| scene.change);
    rebuild::changes_of(event).into_iter().chain(later).collect()
}

/// Rebuilds, and acts while the log is replayed. The replay waits for the act.
async fn rebuild_while(store: &Store, changes_of: ChangesOf, act: impl Future) -> Rebuilt {
    let (started, mut start) = unbounded_channel();
    let (ended, end) = mpsc::channel::<()>();
    let is_first = Cell::new(true);
    let progress = move |_, _| {
        if is_first.replace(false) {
            started.send(()).unwrap();
            end.recv_timeout(PATIENCE).expect("nothing waits for the rebuild");
        }
    };
    let acts = async {
        start.recv().await.unwrap();
        act.await;
        ended.send(()).unwrap();
    };
    let how = Rebuild { changes_of, progress: Box::new(progress) };
    tokio::join!(store.rebuild(how), acts).0.unwrap()
}

async fn run(store: &Store) -> Rebuilt {
    store.rebuild(Rebuild { changes_of, progress: Box::new(|_, _| {}) }).await.unwrap()
}

async fn damage(store: &Store) {
    let sql = "DELETE FROM activity; DELETE FROM turn_index; UPDATE turn_facts SET ok = 7;
        UPDATE turns SET conversation = NULL";
    store.writer.run(move |connection| Ok(connection.execute_batch(sql)?)).await.unwrap();
}

async fn count(store: &Store, rows: &'static str) -> i64 {
    let sql = format!("SELECT count(*) FROM {rows}");
    let read =
        move |connection: &sql::Connection| Ok(connection.query_row(&sql, (), |row| row.get(0))?);
    store.pool.run(read).await.unwrap()
}

pub(crate) async fn writes_continue_during_a_rebuild(store: &Store) {
    rebuild::play_everything(store).await;
    let rebuilt = rebuild_while(store, changes_of, play(store, later_scenes())).await;
    assert_eq!(rebuilt, Rebuilt { events: 11, changed: false });
    assert_eq!(run(store).await, Rebuilt { events: 15, changed: false });
}

pub(crate) async fn repair_includes_what_was_written_meanwhile(store: &Store) {
    rebuild::play_everything(store).await;
    damage(store).await;
    let rebuilt = rebuild_while(store, changes_of, play(store, later_scenes())).await;
    assert_eq!(rebuilt, Rebuilt { events: 15, changed: true });
    assert!(store.turn_head(&Scope::default(), &turn_id("t8")).await.unwrap().unwrap().completed);
    assert_eq!(run(store).await, Rebuilt { events: 15, changed: false });
}

pub(crate) async fn erasure_during_a_rebuild_is_not_undone(store: &Store) {
    play(store, later_scenes()).await;
    damage(store).await;
    let mut erasure = Scene::new("erasure", "t8", Change::EraseUser(user_id("u8")));
    erasure.event.turn = None;
    // The stub of an erased event has no labels.
    let changes_of: ChangesOf = |event| match event.body.to_json().contains("What now") {
        true => changes_of(event),
        false if event.id.as_str().starts_with("open-") => {
            vec![Change::Turn(model::TurnChange::Open {
                track: None,
                bundle: None,
                user_type: None,
                intent: None,
                language: None,
            })]
        }
        false => changes_of(event),
    };
    assert!(rebuild_while(store, changes_of, play(store, [erasure])).await.changed);
    assert_eq!(count(store, "turns WHERE track IS NOT NULL").await, 0);
    let how = Rebuild { changes_of, progress: Box::new(|_, _| {}) };
    assert!(!store.rebuild(how).await.unwrap().changed);
}

pub(crate) async fn retention_during_a_rebuild_loses_no_effect(store: &Store) {
    rebuild::play_everything(store).await;
    damage(store).await;
    let act = async {
        play(store, later_scenes()).await;
        let all = (1..=14).map(Position).collect();
        assert_eq!(store.drop_events(all, changes_of).await.unwrap(), 14);
    };
    assert!(rebuild_while(store, changes_of, act).await.changed);
    assert_eq!(count(store, "turn_index").await, 2);
    assert_eq!(run(store).await, Rebuilt { events: 1, changed: false });
}

pub(crate) async fn tenant_removed_during_a_rebuild_stays_removed(store: &Store) {
    let gone = Scope { tenant: Tenant::new("gone").unwrap(), ..Scope::default() };
    rebuild::play_everything(store).await;
    play(store, rebuild::scenes_of(&gone)).await;
    damage(store).await;
    let act = async { store.remove_tenant(&gone.tenant).await.unwrap() };
    assert!(rebuild_while(store, changes_of, act).await.changed);
    assert_eq!(count(store, "turn_index").await, 1);
    assert_eq!(run(store).await, Rebuilt { events: 11, changed: false });
}
