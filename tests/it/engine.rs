//! Which engines the servers of these tests run on: `UPTAKE_TEST_ENGINE=embedded` (without it too) or
//! `scaled`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

use testkit::servers::Postgres;

/// Whether servers run on Postgres and its companions.
#[expect(clippy::disallowed_methods, reason = "a setting of the tests, not of the program")]
pub(crate) fn is_scaled() -> bool {
    match std::env::var("UPTAKE_TEST_ENGINE").as_deref() {
        Err(_) | Ok("embedded") => false,
        Ok("scaled") => true,
        Ok(other) => panic!("UPTAKE_TEST_ENGINE is {other:?}; it can be embedded or scaled"),
    }
}

/// Changes what the store of a folder holds behind the server's back, as a bad disk or a clumsy
/// administrator might.
pub(crate) fn tamper(folder: &Path, sqlite: &str, postgres: &str) {
    if is_scaled() {
        let (server, schema) = (Postgres::shared().unwrap(), schema_of(folder));
        server.run(&format!("SET search_path TO {schema}; {postgres}")).unwrap();
        return;
    }
    let done = Command::new("sqlite3").arg(folder.join("uptake.db")).arg(sqlite).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Whether a text is anywhere in the tables that belong to a folder, where they are not in it.
pub(crate) fn holds(folder: &Path, text: &str) -> bool {
    if !is_scaled() {
        return false;
    }
    let all = format!("SELECT schema_to_xml('{}', true, false, '')", schema_of(folder));
    Postgres::shared().unwrap().run(&all).unwrap().contains(text)
}

/// Gives a command what it needs to find the store of this folder.
pub(crate) fn equip(command: &mut Command, folder: &Path) {
    command.envs(setting(folder));
}

/// The same as a name and a value.
pub(crate) fn setting(folder: &Path) -> Option<(&'static str, String)> {
    is_scaled().then(|| ("UPTAKE__STORE__POSTGRES", store_of(folder)))
}

/// Whether a test is about the folder of the store, where it has one; if not it says so.
pub(crate) fn is_in_folder(test: &str) -> bool {
    if is_scaled() {
        eprintln!("[skipped] {test}: it is about a disk that the store is not on");
    }
    !is_scaled()
}

/// Where the store of a folder is: a schema of its own in the database that all tests share.
pub(crate) fn store_of(folder: &Path) -> String {
    let (server, schema) = (Postgres::shared().unwrap(), schema_of(folder));
    server.run(&format!("CREATE SCHEMA IF NOT EXISTS {schema}")).unwrap();
    format!("{}?options=-c%20search_path%3D{schema}", server.url())
}

fn schema_of(folder: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    format!("s{:016x}", hasher.finish())
}
