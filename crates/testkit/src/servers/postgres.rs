//! PostgreSQL with fsync on, and a database for each test.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::installed::path_of;
use super::keeper::Launch;
use super::missing::NoServer;
use super::running::{Running, Server, Slot, shared};
use super::{place, wire};

/// A PostgreSQL server; over loopback it asks nobody for a password.
pub struct Postgres {
    url: String,
    port: u16,
}

impl Postgres {
    /// One for this test alone.
    pub fn start() -> Result<Running<Self>, NoServer> {
        Running::start()
    }

    /// The one that all tests of this binary share.
    pub fn shared() -> Result<&'static Self, NoServer> {
        static SHARED: Slot<Postgres> = Slot::new();
        shared(&SHARED)
    }

    /// Where it is, as a superuser sees it: `postgres://postgres@127.0.0.1:PORT/postgres`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs a statement by `psql` in the database of the address: the rows, columns divided by `|`, or
    /// what PostgreSQL says.
    pub fn run(&self, sql: &str) -> Result<String, String> {
        run_sql(&self.url, sql)
    }

    /// A new, empty database.
    pub fn database(&self) -> Result<Database, NoServer> {
        let name = place::fresh_name();
        run_sql(&self.url, &format!("create database {name}")).map_err(Self::broken)?;
        Ok(Database { url: with_database(&self.url, &name), server: self.url.clone(), name })
    }
}

/// A database of one test; dropped with it.
pub struct Database {
    url: String,
    server: String,
    name: String,
}

impl Database {
    /// Where it is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs a statement by `psql`: the rows, columns divided by `|`, or what PostgreSQL says.
    pub fn run(&self, sql: &str) -> Result<String, String> {
        run_sql(&self.url, sql)
    }

    /// The same as another login of the server.
    pub fn run_as(&self, login: &str, password: &str, sql: &str) -> Result<String, String> {
        run_sql(&with_login(&self.url, login, password), sql)
    }

    /// Its name, which no other database of the server has.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The server may be gone, and its databases with it.
        let _ = run_sql(&self.server, &format!("drop database {} with (force)", self.name));
    }
}

impl Server for Postgres {
    const NAME: &'static str = "PostgreSQL";
    const VARIABLE: &'static str = "UPTAKE_TEST_POSTGRES";

    fn at(address: &str) -> Result<Self, String> {
        let known = ["postgres://", "postgresql://"].iter().any(|start| address.starts_with(start));
        if !known {
            return Err(format!("got {address:?}, expected postgres://USER@HOST:PORT/DATABASE"));
        }
        Ok(Self { url: address.to_owned(), port: 0 })
    }

    fn plan(folder: &Path) -> Result<(Self, Launch), NoServer> {
        let programs = path_of(Self::NAME, "postgres_programs")?;
        path_of(Self::NAME, "postgres_cluster")?;
        let port = place::free_port().map_err(Self::broken)?;
        let mut command = as_its_user(folder)?;
        command.push(programs.join("postgres").into_os_string());
        command.push("-D".into());
        command.push(data(folder).into_os_string());
        command.extend(["-p".into(), port.to_string().into()]);
        for setting in SETTINGS {
            command.extend(["-c".into(), setting.into()]);
        }
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        // "Immediate" at the end: no checkpoint, and no shared memory left behind as −9 would.
        Ok((Self { url, port }, Launch { command, stop: "INT", end: "QUIT" }))
    }

    fn prepare(&self, folder: &Path) -> Result<(), NoServer> {
        let cluster = path_of(Self::NAME, "postgres_cluster")?;
        // `cp -a` keeps the owner, which is whoever may run PostgreSQL here.
        let copied = Command::new("cp").arg("-a").arg(cluster).arg(data(folder)).output();
        let copied = copied.map_err(Self::broken)?;
        let said = String::from_utf8_lossy(&copied.stderr);
        if copied.status.success() { Ok(()) } else { Err(Self::broken(said)) }
    }

    fn answers(&self) -> io::Result<()> {
        let mut request = vec![0, 0, 0, 0, 0, 3, 0, 0];
        request.extend(b"user\0postgres\0database\0postgres\0\0");
        request[3] = u8::try_from(request.len()).map_err(io::Error::other)?;
        // While it recovers it answers with an error, whose letter is E.
        let answer = wire::ask(self.port, &request, 1)?;
        wire::expect(answer == b"R", "a session, which begins with R")
    }
}

/// What differs from PostgreSQL's defaults. Fsync is on by default; it is here to be seen.
const SETTINGS: [&str; 6] = [
    "fsync=on",
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=300",
    // In the data folder, so that nothing stays behind elsewhere after a kill.
    "dynamic_shared_memory_type=mmap",
    "timezone=UTC",
];

fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// PostgreSQL refuses to be root: then it runs as the user that Debian's package makes.
fn as_its_user(folder: &Path) -> Result<Vec<OsString>, NoServer> {
    use std::os::unix::fs::MetadataExt;
    // The folder is ours, so its owner is who we are.
    let we_are = folder.metadata().map_err(Postgres::broken)?.uid();
    if we_are != 0 {
        return Ok(Vec::new());
    }
    let command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"];
    Ok(command.map(Into::into).to_vec())
}

fn run_sql(url: &str, sql: &str) -> Result<String, String> {
    // A server elsewhere may come without the package's programs; then psql must be on the path.
    let psql = path_of(Postgres::NAME, "postgres_programs").map(|programs| programs.join("psql"));
    let psql = psql.unwrap_or_else(|_| "psql".into());
    let output = Command::new(&psql)
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, url])
        // A paused server takes connections and says nothing; a busy one takes its time.
        .env("PGCONNECT_TIMEOUT", "60")
        .output()
        .map_err(|error| format!("{}: {error}", psql.display()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// The same address with another database; parameters after `?` stay.
fn with_database(url: &str, name: &str) -> String {
    let (address, parameters) = url.split_once('?').map_or((url, None), |(a, p)| (a, Some(p)));
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find('/').map_or(address.len(), |at| host + at);
    let parameters = parameters.map(|p| format!("?{p}")).unwrap_or_default();
    format!("{}/{name}{parameters}", &address[..end])
}

/// The same address for another login.
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
    fn an_address_is_kept_but_for_its_login() {
        for (url, expected) in [
            ("postgres://u@h:1/d", "postgres://ann:pw@h:1/d"),
            ("postgres://u:p@h:1/d?a=b@c", "postgres://ann:pw@h:1/d?a=b@c"),
            ("postgresql://h/d", "postgresql://ann:pw@h/d"),
        ] {
            assert_eq!(with_login(url, "ann", "pw"), expected);
        }
    }

    #[test]
    fn an_address_is_kept_but_for_its_database() {
        for (url, expected) in [
            ("postgres://u@h:1/old", "postgres://u@h:1/new"),
            ("postgres://u:p@h:1", "postgres://u:p@h:1/new"),
            ("postgresql://h/old?sslmode=require", "postgresql://h/new?sslmode=require"),
        ] {
            assert_eq!(with_database(url, "new"), expected);
        }
    }
}
