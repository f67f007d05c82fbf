//! Postgres against the contract, and what only Postgres can show.

use crate::sqlite::{Limits, SqliteStore};

use super::Server;

/// A database of its own for each test.
struct Fresh {
    folder: tempfile::TempDir,
    admin: String,
    name: String,
}

impl Fresh {
    fn new() -> Self {
        let admin = std::env::var("UPTAKE_TEST_POSTGRES").unwrap();
        let name =
            format!("uptake_{}", uuid::Uuid::from_bytes(std::array::from_fn(|_| fastrand())));
        let name = name.replace('-', "");
        run(&admin, &format!("CREATE DATABASE {name}"));
        Self { folder: tempfile::tempdir().unwrap(), admin, name }
    }

    fn address(&self) -> String {
        format!("{}/{}", self.admin.trim_end_matches('/'), self.name)
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::connect(self.folder.path(), &self.address(), Limits::default(), [7; 32])
            .unwrap()
    }
}

/// On a thread of its own: the test's waits for nobody.
fn run(address: &str, sql: &str) {
    let run = || Server::at(address).unwrap().open().unwrap().raw_batch(sql).unwrap();
    std::thread::scope(|scope| scope.spawn(run).join().unwrap());
}

fn fastrand() -> u8 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() as u8
}

impl Drop for Fresh {
    fn drop(&mut self) {
        run(&self.admin, &format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

crate::contract::contract_tests!(Fresh);

/// The server's clock counts: a node that is a minute ahead takes nothing, and one that is a minute behind
/// does not keep it longer.
#[tokio::test]
async fn nodes_do_not_go_by_their_own_clocks() {
    use std::time::Duration;

    use crate::Leases;
    use event::Timestamp;

    let (place, other) = (Fresh::new(), tempfile::tempdir().unwrap());
    let first = place.open();
    let second =
        SqliteStore::connect(other.path(), &place.address(), Limits::default(), [7; 32]).unwrap();
    let at = |secs: i64| Timestamp::from_micros(1_800_000_000_000_000).plus_secs(secs);
    let long = Duration::from_secs(30);
    assert!(first.hold("work", "a", at(0), long).await.unwrap().is_some());
    assert_eq!(second.hold("work", "b", at(60), long).await.unwrap(), None);
    // Renewed by one whose clock is a minute ahead, for a moment.
    assert!(first.hold("work", "a", at(60), Duration::ZERO).await.unwrap().is_some());
    assert!(second.hold("work", "b", at(0), long).await.unwrap().is_some());
    assert_eq!(first.hold("work", "a", at(60), long).await.unwrap(), None);
}
