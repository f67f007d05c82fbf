//! Settings and prepared statements of sessions, and what they tell other nodes.

use std::time::Duration;

use model::{Role, Tenant};
use sql::Connection;
use testkit::servers::Postgres;

use super::Fresh;
use crate::StoredKey;
use crate::contract::scene::at;
use crate::postgres::Server;

/// Other nodes reload their keys only then.
#[tokio::test]
async fn key_changes_and_ended_sessions_are_told_to_other_nodes() {
    let Some(place) = Fresh::new() else { return };
    let node = place.another_node();
    let (one, other) = (place.open(), node.open());
    let mut peers = other.watch_peers();
    let mut told = async |version: u64| {
        let told = peers.wait_for(|news| news.access_version >= version);
        let told = tokio::time::timeout(Duration::from_secs(60), told).await;
        assert_eq!(told.expect("a change is told").unwrap().access_version, version);
    };
    let key = StoredKey {
        id: "a".into(),
        hash: [7; 32],
        tenant: Tenant::new("acme").unwrap(),
        project: None,
        role: Role::Admin,
        rate: None,
        origin: None,
        created_at: at(1),
        revoked_at: None,
    };
    one.add_key(key.clone()).await.unwrap();
    told(1).await;
    assert_eq!(other.keys().await.unwrap(), [key]);
    assert!(one.revoke_key("a", at(2)).await.unwrap());
    told(2).await;
    assert!(other.keys().await.unwrap()[0].revoked_at.is_some());
    assert!(!one.revoke_key("a", at(3)).await.unwrap(), "nothing to tell");
    one.end_visit("v", at(20), at(3)).await.unwrap();
    told(3).await;
    assert_eq!(other.ended_visits().await.unwrap().len(), 1);
}

/// The settings as the server reports them. Commits are synchronous whatever the database's
/// default.
#[test]
fn postgres_sessions_have_their_settings() {
    let Some(place) = Fresh::new() else { return };
    let shown = |connection: &Connection, name: &str| -> String {
        connection.query_row(&format!("SHOW {name}"), (), |row| row.get(0)).unwrap()
    };
    let (database, shared) = (&*place.database, Postgres::shared().unwrap());
    let server = Server::parse(database.url()).unwrap();
    let session = server.open().unwrap();
    for (name, expected) in [
        ("idle_in_transaction_session_timeout", "10s"),
        ("lock_timeout", "15s"),
        ("tcp_user_timeout", "10000"),
        ("tcp_keepalives_idle", "5"),
        ("tcp_keepalives_interval", "2"),
        ("tcp_keepalives_count", "3"),
    ] {
        assert_eq!(shown(&session, name), expected, "{name}");
    }
    let own =
        format!("{}?options=-c%20search_path%3Dmine%20-c%20lock_timeout%3D3s", database.url());
    let session = Server::parse(&own).unwrap().open().unwrap();
    assert_eq!(shown(&session, "search_path"), "mine");
    assert_eq!(shown(&session, "lock_timeout"), "3s");
    assert_eq!(shown(&session, "idle_in_transaction_session_timeout"), "10s");
    for (of_database, ours) in [("off", "on"), ("remote_apply", "remote_apply"), ("local", "local")]
    {
        let set =
            format!("ALTER DATABASE {} SET synchronous_commit = {of_database}", database.name());
        shared.run(&set).unwrap();
        assert_eq!(shown(&server.writer().unwrap(), "synchronous_commit"), ours);
    }
}

/// Names of prepared statements with this ending. A statement prepared twice has another name.
fn ready(session: &Connection, end: &str) -> Vec<String> {
    let ask = "SELECT name FROM pg_prepared_statements WHERE statement LIKE ?1";
    let mut asked = session.prepare(ask).unwrap();
    let names = asked.query_map([format!("%{end}")], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

#[test]
fn cached_statements_are_prepared_once() {
    let Some(place) = Fresh::new() else { return };
    let session = Server::parse(place.database.url()).unwrap().open().unwrap();
    for n in 0..10 {
        session.query_row(&format!("SELECT {n} AS made_up"), (), |_| Ok(())).unwrap();
    }
    assert_eq!(ready(&session, " AS made_up"), Vec::<String>::new());
    let ask_again = || {
        let mut again = session.prepare_cached("SELECT 1 AS again").unwrap();
        again.query_row((), |_| Ok(())).unwrap();
        drop(again);
        ready(&session, " AS again")
    };
    let first = ask_again();
    assert_eq!((first.len(), ask_again()), (1, first.clone()));
}
