//! Which engines the servers of these tests run on: `UPTAKE_TEST_ENGINE=embedded` (without it too) or
//! `scaled`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// Whether servers run on Postgres and its companions.
pub(crate) fn is_scaled() -> bool {
    match std::env::var("UPTAKE_TEST_ENGINE").as_deref() {
        Err(_) | Ok("embedded") => false,
        Ok("scaled") => true,
        Ok(other) => panic!("UPTAKE_TEST_ENGINE is {other:?}; it can be embedded or scaled"),
    }
}

/// Gives a command what it needs to find the store of this folder.
pub(crate) fn equip(command: &mut Command, folder: &Path) {
    if is_scaled() {
        command.env("UPTAKE__STORE__POSTGRES", schema_of(folder));
    }
}

/// The part of the test's database that belongs to a folder.
fn schema_of(folder: &Path) -> String {
    let server = std::env::var("UPTAKE_TEST_POSTGRES").unwrap();
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let schema = format!("s{:016x}", hasher.finish());
    let create = format!("CREATE SCHEMA IF NOT EXISTS {schema}");
    let made = Command::new("psql").args(["-q", &server, "-c", &create]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    format!("{server}?options=-c%20search_path%3D{schema}")
}
