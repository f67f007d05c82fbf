//! Postgres against the contract, and tests that need Postgres.

mod outages;
mod partitions;
mod unconfirmed_commits;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use model::{Outcome, Position, Scope, Timestamp};
use testkit::servers::{Database, Postgres, or_skip};

use crate::StoreError;
use crate::contract::rebuild;
use crate::log::Limits;
use crate::postgres::follower::Follower;
use crate::postgres::{PartitionMaker, Server};
use crate::store::Store;

struct Fresh {
    folder: tempfile::TempDir,
    database: Arc<Database>,
}

impl Fresh {
    fn new() -> Option<Self> {
        let database = or_skip(Postgres::shared())?.database().unwrap();
        let database = Arc::new(database);
        Some(Self { folder: tempfile::tempdir().unwrap(), database })
    }

    fn another_node(&self) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), database: Arc::clone(&self.database) }
    }

    fn open(&self) -> Store {
        self.open_with("")
    }

    /// Opens the store with additional address parameters.
    fn open_with(&self, parameters: &str) -> Store {
        let address = format!("{}{parameters}", self.database.url());
        Store::connect(self.folder.path(), &address, Limits::default(), [7; 32]).unwrap()
    }
}

crate::contract::contract_tests!(Fresh);

/// A login with read access to its own tenants, dropped at the end.
struct Reader<'a> {
    database: &'a Database,
    name: String,
}

impl<'a> Reader<'a> {
    fn of(database: &'a Database, name: &str, tenants: &[&str]) -> Self {
        let name = format!("{name}_{}", database.name());
        let made = format!("CREATE ROLE {name} LOGIN PASSWORD 'pw' IN ROLE uptake_read");
        database.run(&made).unwrap();
        for tenant in tenants {
            database.run(&format!("INSERT INTO readers VALUES ('{name}', '{tenant}')")).unwrap();
        }
        Self { database, name }
    }

    fn run(&self, sql: &str) -> Result<String, String> {
        self.database.run_as(&self.name, "pw", sql)
    }

    fn count(&self, before: &str, what: &str) -> u32 {
        let said = self.run(&format!("{before}; SELECT count(*) FROM {what}")).unwrap();
        said.lines().last().unwrap().parse().unwrap()
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let gone = format!("DROP OWNED BY {0}; DROP ROLE {0}", self.name);
        drop(self.database.run(&gone));
    }
}

/// A turn with findings and a reaction, in its own project, so that both views have a row.
fn add_a_turn(database: &Database, key: u32, tenant: &str) {
    let (answer, finding) = (key + 1, key + 2);
    let sql = format!(
        r#"INSERT INTO projects (key, tenant, project) VALUES ({key}, '{tenant}', 'p{key}');
        INSERT INTO users (key, project, id) VALUES ({key}, {key}, 'u{key}');
        INSERT INTO turns (key, project, id, ts, opened, completed)
            VALUES ({key}, {key}, 't{key}', 1, {key}, {answer});
        INSERT INTO events (position, project, type, source, severity, category, id, turn, ts,
            received_at, data) VALUES
            ({answer}, {key}, 1, 1, 1, 1, 'a{key}', {key}, 1, 1, '{{"model": "m"}}'),
            ({finding}, {key}, 1, 1, 1, 1, 'f{key}', {key}, 1, 1, '{{"finding": "answer"}}');
        INSERT INTO reactions (position, event, project, turn, "user", origin, reaction, confidence, ts)
            VALUES ({finding}, 'f{key}', {key}, {key}, {key}, 1, 1, 1, 1)"#
    );
    database.run(&sql).unwrap();
}

#[tokio::test]
async fn sql_readers_see_one_tenant() {
    let Some(place) = Fresh::new() else { return };
    let store = place.open();
    rebuild::play_everything(&store).await;
    let database = &*place.database;
    add_a_turn(database, 800, "default");
    add_a_turn(database, 900, "acme");
    let (ann, bob, eve, both) = (
        Reader::of(database, "ann", &["default"]),
        Reader::of(database, "bob", &["acme"]),
        Reader::of(database, "eve", &[]),
        Reader::of(database, "both", &["default", "acme"]),
    );
    for what in ["events", "turns", "reactions", "conv_messages", "implicit_feedback", "users"] {
        let of = |reader: &Reader<'_>| reader.count("SELECT 1", what);
        let all = database.run(&format!("SELECT count(*) FROM {what}")).unwrap();
        assert!(of(&ann) > 0 && of(&bob) > 0, "{what}: {} and {}", of(&ann), of(&bob));
        assert_eq!(of(&ann) + of(&bob), all.parse::<u32>().unwrap(), "{what}");
        assert_eq!((of(&eve), of(&both)), (0, of(&ann) + of(&bob)), "{what}");
    }
    // A server may deny this by default.
    drop(bob.run("ALTER ROLE CURRENT_USER SET uptake.tenant = 'default'"));
    // No setting of a reader changes the result.
    let ways = [
        "SET uptake.tenant = 'default'",
        "SET ROLE uptake_read",
        "SET ROLE uptake_read; SET uptake.tenant = 'default'",
        "ALTER ROLE CURRENT_USER SET search_path = pg_temp, public",
        "ALTER ROLE CURRENT_USER SET role = 'uptake_read'",
        "CREATE TEMP TABLE readers AS SELECT CAST(session_user AS TEXT) AS role, 'default' AS tenant; \
         SET search_path = pg_temp, public",
    ];
    for what in ["events", "conv_messages", "implicit_feedback"] {
        let own = bob.count("SELECT 1", what);
        for way in ways {
            assert_eq!(bob.count(way, &format!("public.{what}")), own, "{what} after {way}");
            assert_eq!(eve.count(way, &format!("public.{what}")), 0, "{what} after {way}");
        }
    }
    let others = bob.count("SELECT 1", "conv_messages WHERE tenant <> 'acme'");
    assert_eq!(others + bob.count("SELECT 1", "implicit_feedback WHERE tenant <> 'acme'"), 0);
    let me = &bob.name;
    for refused in [
        &format!("INSERT INTO readers VALUES ('{me}', 'default')"),
        "UPDATE readers SET tenant = 'default'",
        "DELETE FROM readers",
        "SELECT * FROM readers",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "ALTER TABLE events DISABLE ROW LEVEL SECURITY",
        "DROP POLICY one_tenant ON events",
        "CREATE OR REPLACE FUNCTION public.projects_of_reader() RETURNS BIGINT[] LANGUAGE sql AS \
         'SELECT ARRAY[1]::BIGINT[]'",
        "SET row_security = off; SELECT * FROM events",
    ] {
        assert!(bob.run(refused).is_err(), "{refused}");
    }
    for closed in ["meta", "keys", "claims", "turn_vectors", "baseline_turns", "events_other"] {
        let said = ann.run(&format!("SELECT * FROM {closed}"));
        assert!(said.is_err_and(|error| error.contains("permission denied")), "{closed}");
    }
}

#[tokio::test]
async fn sql_readers_belong_to_their_schema() {
    let Some(place) = Fresh::new() else { return };
    let _store = place.open();
    place.database.run("CREATE SCHEMA other").unwrap();
    let node = place.another_node();
    let _other = node.open_with("?options=-c%20search_path%3Dother");
    add_a_turn(&place.database, 900, "acme");
    place
        .database
        .run("INSERT INTO other.projects (tenant, project) VALUES ('acme', 'p')")
        .unwrap();
    let ann = Reader::of(&place.database, "ann", &["acme"]);
    assert_eq!(ann.count("SELECT 1", "public.turns"), 1);
    assert_eq!(ann.count("SELECT 1", "other.projects"), 0);
    let add = format!("INSERT INTO other.readers VALUES ('{}', 'acme')", ann.name);
    place.database.run(&add).unwrap();
    assert_eq!(ann.count("SELECT 1", "other.projects"), 1);
    assert_eq!(ann.count("SET search_path = other", "turns"), 0);
}

#[tokio::test]
async fn reader_functions_check_the_login_once() {
    let Some(place) = Fresh::new() else { return };
    let _store = place.open();
    let ann = Reader::of(&place.database, "ann", &["default"]);
    for what in ["turns", "events", "projects", "conv_messages"] {
        let plan = ann.run(&format!("EXPLAIN SELECT * FROM {what}")).unwrap();
        assert!(plan.contains("InitPlan") && !plan.contains("_of_reader"), "{what}: {plan}");
    }
}

/// The sender and the callback of a follower.
fn silent() -> (tokio::sync::watch::Sender<crate::PeerNews>, impl FnMut(Position) + Send) {
    (tokio::sync::watch::Sender::default(), |_| {})
}

/// Like a database that was reset before the follower saw this node's commit.
#[tokio::test]
async fn shortened_log_is_detected() {
    let Some(place) = Fresh::new() else { return };
    drop(place.open());
    let source = Server::parse(place.database.url()).unwrap();
    let committed = tokio::sync::watch::channel(Position(5)).1;
    let (news, notify) = silent();
    let mut told = news.subscribe();
    let _follower =
        Follower::start(source, PartitionMaker::hourly(), committed, (news, notify)).unwrap();
    let told = told.wait_for(|news| news.went_back);
    let told = tokio::time::timeout(Duration::from_secs(60), told).await;
    assert!(told.is_ok(), "the follower missed that five events are gone");
}

#[tokio::test]
async fn two_nodes_share_one_log() {
    let Some(place) = Fresh::new() else { return };
    let other =
        Fresh { folder: tempfile::tempdir().unwrap(), database: Arc::clone(&place.database) };
    let (a, b) = (place.open(), other.open());
    let write = |id: &str| testkit::write(&Scope::default(), id, 1);
    let write_some = async |store: &Store, name: &str| {
        for n in 0..20 {
            let outcome = store.commit(vec![write(&format!("{name}{n}"))]).await.unwrap();
            assert!(matches!(outcome[..], [Outcome::Stored(_)]), "{outcome:?}");
        }
    };
    tokio::join!(write_some(&a, "a"), write_some(&b, "b"));
    let again = a.commit(vec![write("b7")]).await.unwrap();
    assert!(matches!(again[..], [Outcome::Replayed { .. }]), "{again:?}");
    let log = b.tail(Position(0), 100).await.unwrap();
    let positions: Vec<u64> = log.iter().map(|stored| stored.position.0).collect();
    assert_eq!(positions, (1..=40).collect::<Vec<_>>());
    for store in [&a, &b] {
        let mut heads = store.watch();
        tokio::time::timeout(Duration::from_secs(60), heads.wait_for(|head| head.0 == 40))
            .await
            .expect("both hear of everything")
            .unwrap();
    }
}

#[tokio::test]
async fn leases_use_the_server_clock() {
    let Some(place) = Fresh::new() else { return };
    let other = place.another_node();
    let (first, second) = (place.open(), other.open());
    let at = |secs: i64| Timestamp::from_micros(1_800_000_000_000_000).plus_secs(secs);
    let long = Duration::from_secs(30);
    assert!(first.acquire_lease("work", "a", at(0), long).await.unwrap().is_some());
    assert_eq!(second.acquire_lease("work", "b", at(60), long).await.unwrap(), None);
    // Renewed by a node whose clock is a minute fast.
    assert!(first.acquire_lease("work", "a", at(60), Duration::ZERO).await.unwrap().is_some());
    assert!(second.acquire_lease("work", "b", at(0), long).await.unwrap().is_some());
    assert_eq!(first.acquire_lease("work", "a", at(60), long).await.unwrap(), None);
}

async fn write_one(store: &Store, id: &str) -> Result<Vec<Outcome>, StoreError> {
    store.commit(vec![testkit::write(&Scope::default(), id, 1)]).await
}

/// Locks the log head like a node that stopped inside a group. Returns true when it could continue.
fn stuck(database: &Database, parameters: &str) -> impl FnOnce() -> bool {
    let address = format!("{}{parameters}", database.url());
    let (held, is_held) = std::sync::mpsc::channel();
    let (go_on, told) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let session = Server::parse(&address).unwrap().open().unwrap();
        session.raw_batch("BEGIN; SELECT position FROM log_head FOR UPDATE").unwrap();
        held.send(()).unwrap();
        told.recv().unwrap();
        let went_on = session.raw_batch("COMMIT").is_ok();
        assert_eq!(session.is_lost(), !went_on);
        went_on
    });
    is_held.recv().unwrap();
    move || {
        go_on.send(()).unwrap();
        thread.join().unwrap()
    }
}

#[tokio::test]
async fn waiting_for_the_head_times_out() {
    let Some(place) = Fresh::new() else { return };
    let store = place.open_with("?options=-c%20lock_timeout%3D500ms");
    write_one(&store, "a").await.unwrap();
    let go_on = stuck(&place.database, "?options=-c%20idle_in_transaction_session_timeout%3D0");
    for _ in 0..2 {
        let waited = tokio::time::timeout(Duration::from_secs(60), write_one(&store, "b")).await;
        let waited = waited.expect("the write must time out");
        assert!(matches!(waited, Err(StoreError::Unavailable(_))), "{waited:?}");
    }
    assert!(store.tail(Position(0), 10).await.unwrap().len() == 1, "reading goes on");
    assert!(go_on(), "the server ended the session");
    let outcome = write_one(&store, "b").await.unwrap();
    assert!(matches!(outcome[..], [Outcome::Stored(_)]), "{outcome:?}");
}

#[tokio::test]
async fn paused_node_loses_its_session() {
    let Some(place) = Fresh::new() else { return };
    let store = place.open();
    let go_on = stuck(&place.database, "?options=-c%20idle_in_transaction_session_timeout%3D500ms");
    let outcome = write_one(&store, "a").await.unwrap();
    assert!(matches!(outcome[..], [Outcome::Stored(_)]), "{outcome:?}");
    assert!(!go_on(), "its session is over");
}

/// Includes sessions opened during the failover.
#[tokio::test]
async fn store_writes_after_a_failover() {
    let Some(place) = Fresh::new() else { return };
    let (database, server) = (&*place.database, Postgres::shared().unwrap());
    for parameters in ["", "?target_session_attrs=any"] {
        let store = place.open_with(parameters);
        let id = |name: &str| format!("{name}{}", parameters.len());
        write_one(&store, &id("a")).await.unwrap();
        let name = database.name();
        let set = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
        server.run(&set).unwrap();
        let end = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'"
        );
        server.run(&end).unwrap();
        for _ in 0..3 {
            let refused = write_one(&store, &id("b")).await;
            assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        }
        server.run(&format!("ALTER DATABASE {name} RESET default_transaction_read_only")).unwrap();
        // The first write may find the session broken.
        drop(write_one(&store, &id("c")).await);
        write_one(&store, &id("d")).await.unwrap();
        // Idle readers are pinged after a second.
        tokio::time::sleep(Duration::from_millis(1200)).await;
        assert!(store.tail(Position(0), 10).await.is_ok());
    }
}

#[test]
fn silent_server_is_skipped() {
    let Some(place) = Fresh::new() else { return };
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let port = silent.local_addr().unwrap().port();
    let address = place.database.url().replacen('@', &format!("@127.0.0.1:{port},"), 1);
    let server = Server::parse(&address).unwrap();
    for _ in 0..3 {
        assert!(server.clone().open().unwrap().answers());
    }
    assert!(silent.accept().is_ok(), "it was asked");
    assert!(silent.accept().is_err(), "and not again");
}

#[test]
fn node_waits_for_a_running_migration() {
    let Some(place) = Fresh::new() else { return };
    let first = Server::parse(place.database.url()).unwrap().open().unwrap();
    first.raw_batch("BEGIN").unwrap();
    crate::postgres::lock(&first).unwrap();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| place.open_with("?options=-c%20lock_timeout%3D100ms"));
        std::thread::sleep(Duration::from_secs(1));
        assert!(!second.is_finished());
        first.raw_batch("COMMIT").unwrap();
        drop(second.join().unwrap());
    });
}
