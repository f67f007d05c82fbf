//! Partitions of events by ranges of position.

use std::time::Duration;

use model::{Position, Scope};
use testkit::servers::Database;

use super::{Fresh, silent};
use crate::postgres::follower::Follower;
use crate::postgres::{PartitionMaker, Server};
use crate::store::Store;

fn is_there(database: &Database, table: &str) -> bool {
    database.run(&format!("SELECT to_regclass('{table}') IS NOT NULL")).unwrap() == "t"
}

fn until_there(database: &Database, tables: [&str; 2], is_wanted: bool) {
    for _ in 0..600 {
        if tables.iter().all(|table| is_there(database, table) == is_wanted) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{tables:?} should be there: {is_wanted}");
}

fn move_head(database: &Database, position: u64) {
    database.run(&format!("UPDATE log_head SET position = {position}")).unwrap();
}

async fn commit_one(store: &Store, id: &str) {
    store.commit(vec![testkit::write(&Scope::default(), id, 1)]).await.unwrap();
}

fn follow(place: &Fresh, partitions: PartitionMaker) -> Follower {
    let source = Server::parse(place.database.url()).unwrap();
    let committed = tokio::sync::watch::channel(Position(0)).1;
    Follower::start(source, partitions, committed, silent()).unwrap()
}

#[tokio::test]
async fn events_are_partitioned_by_position() {
    let Some(place) = Fresh::new() else { return };
    let (store, database) = (place.open(), &*place.database);
    commit_one(&store, "first").await;
    move_head(database, 9_999_998);
    for id in ["last", "next"] {
        commit_one(&store, id).await;
    }
    let ids = |table: &str| database.run(&format!("SELECT id FROM {table}")).unwrap();
    assert_eq!([ids("events_0"), ids("events_1")], ["first\nlast", "next"]);
    assert_eq!(ids("events_other"), "");
}

/// Events of a range without a partition stay in the default partition, and nodes start.
#[tokio::test]
async fn node_starts_without_a_partition_for_its_range() {
    let Some(place) = Fresh::new() else { return };
    let (store, database) = (place.open(), &*place.database);
    database.run("DROP TABLE events_0, events_1").unwrap();
    commit_one(&store, "early").await;
    drop(store);
    let store = place.open();
    commit_one(&store, "late").await;
    assert_eq!(database.run("SELECT count(*) FROM events_other").unwrap(), "2");
    assert!(!is_there(database, "events_0") && is_there(database, "events_1"));
}

/// Concurrent nodes create the next partition once. While a reader blocks it, they wait without
/// blocking others.
#[test]
fn running_nodes_create_partitions() {
    let Some(place) = Fresh::new() else { return };
    drop(place.open());
    let database = &*place.database;
    database.run("DROP TABLE events_0, events_1").unwrap();
    let reader = Server::parse(database.url()).unwrap().open().unwrap();
    reader.raw_batch("BEGIN; SELECT * FROM events").unwrap();
    let often = || PartitionMaker::with_interval(Duration::from_millis(1));
    let nodes: Vec<_> = (0..4).map(|_| follow(&place, often())).collect();
    std::thread::sleep(Duration::from_secs(3));
    assert!(!is_there(database, "events_0"));
    reader.raw_batch("COMMIT").unwrap();
    until_there(database, ["events_0", "events_1"], true);
    drop(nodes);
}

#[test]
fn log_that_reaches_its_last_partition_gets_another_at_once() {
    let Some(place) = Fresh::new() else { return };
    let _store = place.open();
    move_head(&place.database, 10_000_000);
    until_there(&place.database, ["events_1", "events_2"], true);
}

#[tokio::test]
async fn partition_whose_events_are_all_dropped_is_dropped() {
    let Some(place) = Fresh::new() else { return };
    let (store, database) = (place.open(), &*place.database);
    for id in ["a", "b"] {
        commit_one(&store, id).await;
    }
    move_head(database, 19_999_999);
    until_there(database, ["events_1", "events_2"], true);
    commit_one(&store, "c").await;
    let gone = vec![Position(1), Position(2)];
    assert_eq!(store.drop_events(gone, |_| Vec::new()).await.unwrap(), 2);
    let _node = follow(&place, PartitionMaker::with_interval(Duration::from_millis(1)));
    until_there(database, ["events_0", "events_1"], false);
    let left = store.tail(Position(0), 9).await.unwrap();
    assert_eq!(left.iter().map(|stored| stored.position.0).collect::<Vec<_>>(), [20_000_000]);
    commit_one(&store, "d").await;
    assert_eq!(database.run("SELECT id FROM events_2").unwrap(), "c\nd");
}
