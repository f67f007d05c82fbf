//! Backup of a running store, and restore elsewhere.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use store::Stopwatch;
use testkit::rating_body;

use crate::engine;
use crate::sample_data::{fill_store, read_every_view};
use crate::server::{Client, Server, uptake};

const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

/// Clients that send ratings and turns and record what was acknowledged.
#[derive(Default)]
struct Load {
    ratings: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

impl Load {
    fn send_during<T>(&self, client: &Client, something: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            for sender in 0..3 {
                let client = client.clone();
                scope.spawn(move || self.send(&client, sender));
            }
            let over = Over(&self.is_over);
            let done = something();
            drop(over);
            done
        })
    }

    fn send(&self, client: &Client, sender: usize) {
        for n in 0.. {
            let id = format!("s{sender}-{n}");
            let turn = json!({"turn_id": id, "conversation_id": format!("c-{id}"), "text": "q",
                "response": "a", "model": "m"});
            let mut rating = rating_body(&id);
            rating["id"] = json!(id);
            for (path, body) in [("/api/v1/turns", &turn), ("/api/v1/feedback", &rating)] {
                match client.try_post(path, body) {
                    Ok((201, _)) => {}
                    Ok((status, answer)) => panic!("{status} {answer}"),
                    // The server was killed.
                    Err(_) => return,
                }
            }
            self.ratings.lock().unwrap().push(id);
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    fn acknowledged(&self) -> Vec<String> {
        self.ratings.lock().unwrap().clone()
    }

    fn wait_for(&self, more: usize) {
        let (begin, before) = (Stopwatch::start(), self.acknowledged().len());
        while self.acknowledged().len() < before + more {
            assert!(begin.elapsed() < WAIT_TIMEOUT, "no request succeeded");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a command that must succeed, and parses its JSON.
fn run_json(folder: &Path, arguments: &[&str]) -> Value {
    let (code, out, err) = uptake(folder, arguments);
    assert_eq!(code, Some(0), "{err}");
    serde_json::from_str(&out).unwrap()
}

fn check_refused(folder: &Path, arguments: &[&str], expected: &str) {
    let (code, _, err) = uptake(folder, arguments);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains(expected), "{err}");
}

#[test]
fn backup_contains_every_write_acknowledged_before_it_started() {
    if !engine::is_in_folder("a backup of the data folder") {
        return;
    }
    let mut server = Server::start();
    fill_store(&server);
    let key = crate::keys::create(&server, &["--tenant", "default", "--role", "admin"]);
    let known =
        |server: &Server| server.client().with_header("Authorization", &format!("Bearer {key}"));
    let sending = known(&server).with_header("X-Uptake-Project", "load");
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("copy.db");
    let to = copy.to_str().unwrap();
    let load = Load::default();
    let (before, made) = load.send_during(&sending, || {
        load.wait_for(60);
        let before = load.acknowledged();
        let made = run_json(server.folder(), &["backup", "--to", to, "--json"]);
        load.wait_for(10);
        server.kill();
        (before, made)
    });
    let dead = server.kill_and_leave();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "one file, and nothing beside it");

    let again = tempfile::tempdir().unwrap();
    let back = run_json(again.path(), &["restore", "--from", to, "--verify", "--json"]);
    assert_eq!(back["backup"], made["backup"]);
    assert_eq!(back["replayed"], made["backup"]["position"], "every event was replayed");
    let id = key.split('_').nth(1).unwrap();
    let valid = json!([{"id": id, "role": "admin", "tenant": "default", "project": null}]);
    assert_eq!(back["keys"], valid, "the valid keys are listed");
    let again = Server::start_in(again);
    assert_eq!(again.get("/api/v1/events").0, 401, "keys are asked for");
    let client = known(&again).with_header("X-Uptake-Project", "load");
    for id in &before {
        let (status, event) = client.get(&format!("/api/v1/feedback/{id}"));
        assert_eq!((status, &event["message_id"]), (200, &json!(id)), "{id} is gone: {event}");
    }
    let mut repeat = rating_body(&before[0]);
    repeat["id"] = json!(before[0]);
    assert_eq!(client.post("/api/v1/feedback", &repeat).1["replayed"], true);
    assert_eq!(client.post("/api/v1/feedback", &rating_body("new")).0, 201);

    // A backup of the killed server's folder holds the same data.
    let last = place.path().join("last.db");
    run_json(dead.path(), &["backup", "--to", last.to_str().unwrap(), "--json"]);
    let twin = tempfile::tempdir().unwrap();
    run_json(twin.path(), &["restore", "--from", last.to_str().unwrap(), "--json"]);
    let (old, new) = (Server::start_in(dead), Server::start_in(twin));
    for (one, other) in read_every_view(&known(&old)).into_iter().zip(read_every_view(&known(&new)))
    {
        assert_eq!(one, other);
    }
}

#[test]
fn failed_backup_or_restore_is_reported_and_changes_nothing() {
    if !engine::is_in_folder("a backup of the data folder") {
        return;
    }
    let server = Server::start();
    assert_eq!(server.post("/api/v1/feedback", &rating_body("t1")).0, 201);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().to_str().unwrap();
    let made = run_json(server.folder(), &["backup", "--to", folder, "--json"]);
    let file = made["file"].as_str().unwrap().to_owned();
    assert!(file.starts_with(folder) && file.ends_with("Z.db"), "{file}");
    check_refused(server.folder(), &["backup", "--to", &file], "already exists");
    let inside = server.folder().join("copy.db");
    check_refused(
        server.folder(),
        &["backup", "--to", inside.to_str().unwrap()],
        "inside the data folder",
    );
    check_refused(server.folder(), &["backup", "--to", "/nowhere/at/all.db"], "cannot write to");
    check_refused(server.folder(), &["restore", "--from", &file], "is not empty");
    let empty = tempfile::tempdir().unwrap();
    check_refused(empty.path(), &["backup", "--to", folder], "there is no store in");
    check_refused(empty.path(), &["restore", "--from", "/nowhere.db"], "cannot open /nowhere.db");
    let mut bytes = fs::read(&file).unwrap();
    let letter = bytes.windows(8).position(|window| window == b"positive").unwrap();
    bytes[letter] ^= 1;
    let bad = place.path().join("bad.db");
    fs::write(&bad, bytes).unwrap();
    check_refused(empty.path(), &["restore", "--from", bad.to_str().unwrap()], "it is damaged");
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "nothing is left behind");
    let back = run_json(empty.path(), &["restore", "--from", &file, "--verify", "--json"]);
    assert_eq!(back["replayed"], 1);
}

#[test]
fn killed_restore_is_not_taken_for_an_empty_store() {
    if !engine::is_in_folder("a backup of the data folder") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("uptake.db.partial"), "half").unwrap();
    let first = ["keys", "create", "--tenant", "default", "--role", "admin"];
    check_refused(folder.path(), &first, "restore again");
    assert!(!folder.path().join("uptake.db").exists());
}

#[cfg(feature = "scaled")]
mod postgres {
    use std::process::Command;

    use testkit::servers::{Database, Postgres, or_skip};

    use super::*;

    /// The command that `uptake` prints for this store, with the file name filled in.
    fn command(action: &[&str], store: &str, file: &Path) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
        let output = command.args(action).env("UPTAKE__STORE__POSTGRES", store).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let stderr = String::from_utf8(output.stderr).unwrap();
        let line = stderr.lines().find(|line| line.trim().starts_with("pg_"));
        let line = line.unwrap_or_else(|| panic!("{stderr}"));
        line.replace("FILE", file.to_str().unwrap())
    }

    fn run(command: &str) {
        let done = Command::new("sh").args(["-c", command]).output().unwrap();
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn node(database: &Database) -> Server {
        let settings = [("UPTAKE__STORE__POSTGRES", database.url())];
        Server::start_with(tempfile::tempdir().unwrap(), &settings)
    }

    #[test]
    fn postgres_store_is_restored_with_the_printed_commands() {
        let Some(postgres) = or_skip(Postgres::shared()) else { return };
        let (one, other) = (postgres.database().unwrap(), postgres.database().unwrap());
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("store.dump");
        let server = node(&one);
        fill_store(&server);
        // While the server runs.
        run(&command(&["backup", "--to", "x.db"], one.url(), &file));
        run(&command(&["restore", "--from", "x.db"], other.url(), &file));
        let (_, folder) = server.stop();
        let old = Server::start_with(folder, &[("UPTAKE__STORE__POSTGRES", one.url())]);
        let new = node(&other);
        for (one, other) in
            read_every_view(&old.client()).into_iter().zip(read_every_view(&new.client()))
        {
            assert_eq!(one, other);
        }
        let (_, folder) = new.stop();
        let mut rebuild = Command::new(env!("CARGO_BIN_EXE_uptake"));
        rebuild.args(["rebuild", "--json", "--data"]).arg(folder.path());
        let done = rebuild.env("UPTAKE__STORE__POSTGRES", other.url()).output().unwrap();
        let rebuilt: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(rebuilt["changed"], false);
    }
}
