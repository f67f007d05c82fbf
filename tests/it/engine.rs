//! Which engines the servers of these tests run on: `UPTAKE_TEST_ENGINE=embedded` (without it too) or
//! `scaled`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

use testkit::servers::Postgres;

/// Whether servers run on Postgres and its companions.
pub(crate) fn is_scaled() -> bool {
    match std::env::var("UPTAKE_TEST_ENGINE").as_deref() {
        Err(_) | Ok("embedded") => false,
        Ok("scaled") => true,
        Ok(other) => panic!("UPTAKE_TEST_ENGINE is {other:?}; it can be embedded or scaled"),
    }
}

/// Whether a test that looks into SQLite's file has one to look into; if not it says so.
pub(crate) fn has_file(test: &str) -> bool {
    if is_scaled() {
        println!("{test}: there is no file to look into with UPTAKE_TEST_ENGINE=scaled");
    }
    !is_scaled()
}

/// Gives a command what it needs to find the store of this folder.
pub(crate) fn equip(command: &mut Command, folder: &Path) {
    if is_scaled() {
        command.env("UPTAKE__STORE__POSTGRES", store_of(folder));
    }
}

/// Where the store of a folder is: a schema of its own in the database that all tests share.
pub(crate) fn store_of(folder: &Path) -> String {
    let server = Postgres::shared().unwrap();
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let schema = format!("s{:016x}", hasher.finish());
    server.run(&format!("CREATE SCHEMA IF NOT EXISTS {schema}")).unwrap();
    format!("{}?options=-c%20search_path%3D{schema}", server.url())
}
