//! A node during an outage of Postgres: readiness and the similarity index.

use std::sync::mpsc;
use std::time::Duration;

use model::{Change, Scope, TurnChange, Vector};
use testkit::FaultProxy;
use testkit::servers::Database;

use super::{Fresh, write_one};
use crate::contract::scene::{Scene, play};
use crate::log::Limits;
use crate::postgres::Server;
use crate::store::Store;
use crate::{SimilarQuery, Stopwatch};

/// A generous timeout for slow machines.
const BUSY_TIMEOUT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(20);

fn question() -> Vector {
    Vector::new("m".into(), vec![1.0, 0.0, 0.0])
}

fn answered(turn: &str) -> [Scene; 3] {
    let asked = Scene::new(
        &format!("vector-{turn}"),
        turn,
        Change::Turn(TurnChange::SetVector(question())),
    );
    [Scene::open(turn, "c1"), asked, Scene::answer(turn)]
}

/// A node that connects through the cutter.
fn node_by(cutter: &FaultProxy, place: &Fresh) -> Store {
    Store::connect(place.folder.path(), cutter.url(), Limits::default(), [7; 32]).unwrap()
}

/// Waits until `count` turns are found and the index is complete.
async fn until_found(store: &Store, expected: usize) {
    let query = SimilarQuery {
        scope: Scope::default(),
        vector: question(),
        most: 10,
        floor: 0.5,
        user: None,
        intent: None,
    };
    let begin = Stopwatch::start();
    loop {
        let found = store.similar(query.clone()).await;
        if found.as_ref().is_ok_and(|found| found.complete && found.turns.len() == expected) {
            return;
        }
        assert!(begin.elapsed() < BUSY_TIMEOUT, "{expected} turns, and not {found:?}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Locks the vectors until released.
fn lock_vectors(database: &Database) -> impl FnOnce() {
    let patient = "?options=-c%20idle_in_transaction_session_timeout%3D0";
    let address = format!("{}{patient}", database.url());
    let (locked, is_locked) = mpsc::channel();
    let (let_go, told) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let session = Server::parse(&address).unwrap().open().unwrap();
        session.raw_batch("BEGIN; LOCK TABLE turn_vectors IN ACCESS EXCLUSIVE MODE").unwrap();
        locked.send(()).unwrap();
        told.recv().unwrap();
        session.raw_batch("COMMIT").unwrap();
    });
    is_locked.recv().unwrap();
    move || {
        let_go.send(()).unwrap();
        thread.join().unwrap();
    }
}

/// Waits until a session is blocked on the vectors.
async fn until_it_waits(database: &Database) {
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND query LIKE '%turn_vectors%'";
    let begin = Stopwatch::start();
    while database.run(waiting).unwrap() == "0" {
        assert!(begin.elapsed() < BUSY_TIMEOUT, "no session reads vectors");
        tokio::time::sleep(PAUSE).await;
    }
}

#[tokio::test]
async fn similarity_index_reloads_after_an_outage() {
    let Some(place) = Fresh::new() else { return };
    let other = place.open();
    play(&other, answered("t1")).await;
    until_found(&other, 1).await;
    let let_go = lock_vectors(&place.database);
    let (cutter, home) = (FaultProxy::start(place.database.url()).unwrap(), place.another_node());
    let node = node_by(&cutter, &home);
    until_it_waits(&place.database).await;
    cutter.cut_all();
    let_go();
    play(&other, answered("t2")).await;
    cutter.accept_connections();
    until_found(&node, 2).await;
}

/// No later write would bring it along.
#[tokio::test]
async fn foreign_writes_during_an_outage_are_found_afterwards() {
    let Some(place) = Fresh::new() else { return };
    let other = place.open();
    play(&other, answered("t1")).await;
    let (cutter, home) = (FaultProxy::start(place.database.url()).unwrap(), place.another_node());
    let node = node_by(&cutter, &home);
    until_found(&node, 1).await;
    cutter.cut_all();
    play(&other, answered("t2")).await;
    cutter.accept_connections();
    until_found(&node, 2).await;
}

/// Without any write.
#[tokio::test]
async fn node_is_ready_after_an_outage() {
    let Some(place) = Fresh::new() else { return };
    let cutter = FaultProxy::start(place.database.url()).unwrap();
    let node = node_by(&cutter, &place);
    assert!(node.is_ready().await.unwrap());
    cutter.cut_all();
    assert!(!node.is_ready().await.unwrap(), "no write was tried");
    assert!(write_one(&node, "a").await.is_err());
    assert!(!node.is_ready().await.unwrap(), "a write failed");
    cutter.accept_connections();
    let begin = Stopwatch::start();
    while !node.is_ready().await.unwrap() {
        assert!(begin.elapsed() < BUSY_TIMEOUT, "it is not ready");
        tokio::time::sleep(PAUSE).await;
    }
    assert!(write_one(&node, "a").await.is_ok());
}
