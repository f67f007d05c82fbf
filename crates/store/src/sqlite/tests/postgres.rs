//! Postgres against the contract, and what only Postgres can show.

use std::sync::Arc;
use std::time::Duration;

use event::{Outcome, Position, Scope};
use testkit::servers::{Database, Postgres, or_skip};

use crate::contract::rebuild;
use crate::sqlite::{Limits, SqliteStore};
use crate::{EventReads, Log};

/// A database of its own for each test of the contract.
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

    fn open(&self) -> SqliteStore {
        SqliteStore::connect(self.folder.path(), self.database.url(), Limits::default(), [7; 32])
            .unwrap()
    }
}

crate::contract::contract_tests!(Fresh);

#[tokio::test]
async fn whoever_reads_with_sql_sees_one_tenant() {
    let Some(place) = Fresh::new() else { return };
    let store = place.open();
    rebuild::play_everything(&store).await;
    let read = |tenant: &str, what: &str| {
        let sql = format!(
            "SET ROLE uptake_read; SET uptake.tenant = '{tenant}'; SELECT count(*) FROM {what}"
        );
        let said = place.database.run(&sql).unwrap();
        said.lines().last().unwrap().parse::<u32>().unwrap()
    };
    for what in ["events", "turns", "reactions", "conv_messages", "turn_index", "users"] {
        assert!(read("default", what) > 0, "{what}");
        assert_eq!(read("acme", what), 0, "{what}");
        assert_eq!(read("", what), 0, "{what}");
    }
    for closed in ["meta", "keys", "claims", "turn_vectors", "baseline_turns", "events_other"] {
        let said = place.database.run(&format!("SET ROLE uptake_read; SELECT * FROM {closed}"));
        assert!(said.is_err_and(|error| error.contains("permission denied")), "{closed}");
    }
}

#[tokio::test]
async fn events_are_kept_by_month() {
    let Some(place) = Fresh::new() else { return };
    let store = place.open();
    rebuild::play_everything(&store).await;
    let all = place.database.run("SELECT count(*) FROM events").unwrap();
    let of_months = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'events'::regclass";
    assert_eq!(place.database.run(of_months).unwrap().trim(), "3", "two months and all others");
    assert!(all.trim().parse::<u32>().unwrap() > 0);
}

#[tokio::test]
async fn two_nodes_write_one_log() {
    let Some(place) = Fresh::new() else { return };
    let other =
        Fresh { folder: tempfile::tempdir().unwrap(), database: Arc::clone(&place.database) };
    let (a, b) = (place.open(), other.open());
    let write = |id: &str| testkit::write(&Scope::default(), id, 1);
    let write_some = async |store: &SqliteStore, name: &str| {
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
        tokio::time::timeout(Duration::from_secs(20), heads.wait_for(|head| head.0 == 40))
            .await
            .expect("both hear of everything")
            .unwrap();
    }
}
