//! Postgres against the contract, and what only Postgres can show.

use testkit::servers::{Database, Postgres, or_skip};

use crate::sqlite::{Limits, SqliteStore};

/// A database of its own for each test of the contract.
struct Fresh {
    folder: tempfile::TempDir,
    database: Database,
}

impl Fresh {
    fn new() -> Option<Self> {
        let database = or_skip(Postgres::shared())?.database().unwrap();
        Some(Self { folder: tempfile::tempdir().unwrap(), database })
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::connect(self.folder.path(), self.database.url(), Limits::default(), [7; 32])
            .unwrap()
    }
}

crate::contract::contract_tests!(Fresh);
