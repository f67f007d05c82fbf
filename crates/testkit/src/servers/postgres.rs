//! PostgreSQL with fsync on, and one database per test.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::inventory::find_path;
use super::missing_server::NoServer;
use super::server_process::{Server, ServerProcess, Slot, shared};
use super::supervisor::Launch;
use super::{raw_request, unique_names};

/// A PostgreSQL server without password on loopback.
pub struct Postgres {
    url: String,
    port: u16,
}

impl Postgres {
    /// A server for one test.
    pub fn start() -> Result<ServerProcess<Self>, NoServer> {
        ServerProcess::start()
    }

    /// The server that all tests of this binary share.
    pub fn shared() -> Result<&'static Self, NoServer> {
        static SHARED: Slot<Postgres> = Slot::new();
        shared(&SHARED)
    }

    /// The superuser's address: `postgres://postgres@127.0.0.1:PORT/postgres`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs a statement with `psql`: the rows with columns separated by `|`, or PostgreSQL's error.
    pub fn run(&self, sql: &str) -> Result<String, String> {
        run_sql(&self.url, sql)
    }

    /// Creates an empty database.
    pub fn database(&self) -> Result<Database, NoServer> {
        let name = unique_names::fresh_name();
        run_sql(&self.url, &format!("create database {name}")).map_err(Self::broken)?;
        Ok(Database { url: with_database(&self.url, &name), server: self.url.clone(), name })
    }
}

/// A database for one test, dropped with this value.
pub struct Database {
    url: String,
    server: String,
    name: String,
}

impl Database {
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs a statement with `psql`: the rows with columns separated by `|`, or PostgreSQL's error.
    pub fn run(&self, sql: &str) -> Result<String, String> {
        run_sql(&self.url, sql)
    }

    /// Runs a statement with another login of the server.
    pub fn run_as(&self, login: &str, password: &str, sql: &str) -> Result<String, String> {
        run_sql(&with_login(&self.url, login, password), sql)
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The server and its databases may be gone already.
        let _ = run_sql(&self.server, &format!("drop database {} with (force)", self.name));
    }
}

impl Server for Postgres {
    const NAME: &'static str = "PostgreSQL";
    const VARIABLE: &'static str = "UPTAKE_TEST_POSTGRES";

    fn from_address(address: &str) -> Result<Self, String> {
        let known = ["postgres://", "postgresql://"].iter().any(|start| address.starts_with(start));
        if !known {
            return Err(format!("got {address:?}, expected postgres://USER@HOST:PORT/DATABASE"));
        }
        Ok(Self { url: address.to_owned(), port: 0 })
    }

    fn plan(folder: &Path) -> Result<(Self, Launch), NoServer> {
        let programs = find_path(Self::NAME, "postgres_programs")?;
        find_path(Self::NAME, "postgres_cluster")?;
        let port = unique_names::free_port().map_err(Self::broken)?;
        let mut command = switch_user_prefix(folder)?;
        command.push(programs.join("postgres").into_os_string());
        command.push("-D".into());
        command.push(data(folder).into_os_string());
        command.extend(["-p".into(), port.to_string().into()]);
        for setting in SETTINGS {
            command.extend(["-c".into(), setting.into()]);
        }
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        // "Immediate" shutdown at the end: no checkpoint, and no shared memory left behind.
        Ok((Self { url, port }, Launch { command, stop: "INT", end: "QUIT" }))
    }

    fn prepare(&self, folder: &Path) -> Result<(), NoServer> {
        let cluster = find_path(Self::NAME, "postgres_cluster")?;
        // `cp -a` keeps the owner, the user that may run PostgreSQL here.
        let copied = Command::new("cp").arg("-a").arg(cluster).arg(data(folder)).output();
        let copied = copied.map_err(Self::broken)?;
        let said = String::from_utf8_lossy(&copied.stderr);
        if copied.status.success() { Ok(()) } else { Err(Self::broken(said)) }
    }

    fn answers(&self) -> io::Result<()> {
        let mut request = vec![0, 0, 0, 0, 0, 3, 0, 0];
        request.extend(b"user\0postgres\0database\0postgres\0\0");
        request[3] = u8::try_from(request.len()).map_err(io::Error::other)?;
        // During recovery it answers with an error message, whose tag is E.
        let answer = raw_request::exchange(self.port, &request, 1)?;
        raw_request::ensure_expected(answer == b"R", "a session, which begins with R")
    }
}

/// Settings that differ from the defaults. Fsync is on by default and listed to be explicit.
const SETTINGS: [&str; 6] = [
    "fsync=on",
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=300",
    // In the data folder, so that nothing is left elsewhere after a kill.
    "dynamic_shared_memory_type=mmap",
    "timezone=UTC",
];

fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// PostgreSQL refuses to run as root; then it runs as the user of Debian's package.
fn switch_user_prefix(folder: &Path) -> Result<Vec<OsString>, NoServer> {
    use std::os::unix::fs::MetadataExt;
    // This process owns the folder, so its owner is the current user.
    let we_are = folder.metadata().map_err(Postgres::broken)?.uid();
    if we_are != 0 {
        return Ok(Vec::new());
    }
    let command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"];
    Ok(command.map(Into::into).to_vec())
}

fn run_sql(url: &str, sql: &str) -> Result<String, String> {
    // A server that already runs may come without the package; then psql must be on the path.
    let psql = find_path(Postgres::NAME, "postgres_programs").map(|programs| programs.join("psql"));
    let psql = psql.unwrap_or_else(|_| "psql".into());
    let output = Command::new(&psql)
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, url])
        // A paused server accepts connections and does not answer.
        .env("PGCONNECT_TIMEOUT", "60")
        .output()
        .map_err(|error| format!("{}: {error}", psql.display()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// The address with another database; parameters after `?` are kept.
fn with_database(url: &str, name: &str) -> String {
    let (address, parameters) = url.split_once('?').map_or((url, None), |(a, p)| (a, Some(p)));
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find('/').map_or(address.len(), |at| host + at);
    let parameters = parameters.map(|p| format!("?{p}")).unwrap_or_default();
    format!("{}/{name}{parameters}", &address[..end])
}

/// The address with another login.
fn with_login(url: &str, login: &str, password: &str) -> String {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    let place = url[host..end].find('@').map_or(host, |at| host + at + 1);
    format!("{}{login}:{password}@{}", &url[..host], &url[place..])
}

#[cfg(test)]
mod tests {
    use super::{with_database, with_login};

    #[test]
    fn with_login_replaces_only_the_login() {
        for (url, expected) in [
            ("postgres://u@h:1/d", "postgres://ann:pw@h:1/d"),
            ("postgres://u:p@h:1/d?a=b@c", "postgres://ann:pw@h:1/d?a=b@c"),
            ("postgresql://h/d", "postgresql://ann:pw@h/d"),
        ] {
            assert_eq!(with_login(url, "ann", "pw"), expected);
        }
    }

    #[test]
    fn with_database_replaces_only_the_database() {
        for (url, expected) in [
            ("postgres://u@h:1/old", "postgres://u@h:1/new"),
            ("postgres://u:p@h:1", "postgres://u:p@h:1/new"),
            ("postgresql://h/old?sslmode=require", "postgresql://h/new?sslmode=require"),
        ] {
            assert_eq!(with_database(url, "new"), expected);
        }
    }
}
