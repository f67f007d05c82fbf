//! Selects the backends of these tests: `UPTAKE_TEST_ENGINE=embedded` (the default) or `scaled`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

use testkit::servers::Postgres;

/// True when servers run on Postgres, Redis and Kafka.
#[expect(clippy::disallowed_methods, reason = "a setting of the tests, not of the program")]
pub(crate) fn is_scaled() -> bool {
    match std::env::var("UPTAKE_TEST_ENGINE").as_deref() {
        Err(_) | Ok("embedded") => false,
        Ok("scaled") => true,
        Ok(other) => panic!("UPTAKE_TEST_ENGINE is {other:?}; it can be embedded or scaled"),
    }
}

/// Changes the store of a folder behind the server's back, as disk corruption might.
pub(crate) fn tamper(folder: &Path, sqlite: &str, postgres: &str) {
    if is_scaled() {
        let (server, schema) = (Postgres::shared().unwrap(), schema_of(folder));
        server.run(&format!("SET search_path TO {schema}; {postgres}")).unwrap();
        return;
    }
    let done = Command::new("sqlite3").arg(folder.join("uptake.db")).arg(sqlite).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// True when the Postgres tables of a folder contain the text.
pub(crate) fn tables_contain(folder: &Path, text: &str) -> bool {
    if !is_scaled() {
        return false;
    }
    let all = format!("SELECT schema_to_xml('{}', true, false, '')", schema_of(folder));
    Postgres::shared().unwrap().run(&all).unwrap().contains(text)
}

/// Sets the environment of a command to the store of this folder. The reader is off, because it may
/// append a finding at any moment; `reader.rs` tests it. Tests receive webhooks on loopback.
pub(crate) fn equip(command: &mut Command, folder: &Path) {
    command.envs(setting(folder)).env("UPTAKE__DETECT__READER", "off");
    command.env("UPTAKE__ALERTS__ALLOW_PRIVATE_WEBHOOKS", "true");
}

/// The same as a name and a value.
pub(crate) fn setting(folder: &Path) -> Option<(&'static str, String)> {
    is_scaled().then(|| ("UPTAKE__STORE__POSTGRES", store_of(folder)))
}

/// Skips a test about the data folder, with a message, when the store is in Postgres.
pub(crate) fn is_in_folder(test: &str) -> bool {
    if is_scaled() {
        eprintln!("[skipped] {test}: it is about a disk that the store is not on");
    }
    !is_scaled()
}

/// Each folder has its own schema in the shared database.
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
