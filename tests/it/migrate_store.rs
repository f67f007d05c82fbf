//! Migration of a store from SQLite to Postgres, which clients do not notice.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::rating_body;
use testkit::servers::{Database, Postgres, or_skip};

use crate::sample_data::{fill_store, read_every_view};
use crate::server::Server;

/// Runs `uptake` with its own store settings.
fn uptake(arguments: &[&str], database: Option<&Database>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
    command.args(arguments).env("UPTAKE__LOG__LEVEL", "warn");
    command.env("UPTAKE__STORE__POSTGRES", database.map_or("", Database::url));
    command
}

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn migrate(folder: &Path, database: &Database, rows: &str) -> Command {
    let from = folder.to_str().unwrap();
    let arguments = ["migrate-store", "--from", from, "--to", database.url(), "--rows", rows];
    let mut command = uptake(&arguments, None);
    command.arg("--json");
    command
}

fn serve(folder: TempDir, database: Option<&Database>) -> Server {
    let address = database.map_or("", Database::url);
    Server::start_with(folder, &[("UPTAKE__STORE__POSTGRES", address)])
}

#[test]
fn migrated_store_gives_identical_responses() {
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let database = postgres.database().unwrap();
    let server = serve(tempfile::tempdir().unwrap(), None);
    fill_store(&server);
    let mut event = rating_body("t5");
    event["id"] = json!("once");
    assert_eq!(server.post("/api/v1/feedback", &event).0, 201);
    let key = crate::keys::create(&server, &["--tenant", "default", "--role", "admin"]);
    let with_key =
        |server: &Server| server.client().with_header("Authorization", &format!("Bearer {key}"));
    let (status, folder) = server.stop();
    assert!(status.success());
    // Restarted, so that both read the router state from storage.
    let server = serve(folder, None);
    let before = read_every_view(&with_key(&server));
    let held = run(&mut migrate(server.folder(), &database, "5000"));
    assert_eq!(held.0, Some(1));
    assert!(held.2.contains("is in use by another uptake process"), "{}", held.2);
    let (_, folder) = server.stop();
    let (code, out, err) = run(&mut migrate(folder.path(), &database, "7"));
    assert_eq!(code, Some(0), "{err}");
    let said: Value = serde_json::from_str(&out).unwrap();
    assert!(said["rows"].as_u64().unwrap() > 300 && said["found"] == 0, "{said}");
    let moved = serve(tempfile::tempdir().unwrap(), Some(&database));
    for (old, new) in before.into_iter().zip(read_every_view(&with_key(&moved))) {
        assert_eq!(old, new);
    }
    let (status, again) = with_key(&moved).post("/api/v1/feedback", &event);
    assert_eq!((status, &again["replayed"]), (200, &json!(true)), "{again}");
    assert_eq!(moved.get("/api/v1/events").0, 401, "keys are asked for");
    let (status, new) = with_key(&moved).post("/api/v1/turns", &json!({"text": "And now?"}));
    assert_eq!(status, 201, "{new}");
    let (_, folder) = moved.stop();
    let data = folder.path().to_str().unwrap();
    let (code, out, err) =
        run(&mut uptake(&["rebuild", "--json", "--data", data], Some(&database)));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    let (code, _, err) = run(&mut migrate(folder.path(), &database, "7"));
    assert_eq!(code, Some(1));
    assert!(err.contains("there is no store in"), "{err}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a process that is killed takes real time")]
fn killed_migration_resumes() {
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let database = postgres.database().unwrap();
    let server = serve(tempfile::tempdir().unwrap(), None);
    fill_store(&server);
    let (_, folder) = server.stop();
    let noted = || -> u64 {
        let sum = "SELECT sum(rows) FROM store_migration WHERE part !~ 'source'";
        database.run(sum).ok().and_then(|sum| sum.parse().ok()).unwrap_or(0)
    };
    for wanted in [20, 150] {
        let mut command = migrate(folder.path(), &database, "1");
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let begin = Instant::now();
        while noted() < wanted {
            assert!(begin.elapsed() < Duration::from_secs(180), "it did not come so far");
        }
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "it was killed in the middle");
        let data = tempfile::tempdir().unwrap();
        let data = data.path().to_str().unwrap();
        let serve = ["serve", "--listen", "127.0.0.1:0", "--data", data];
        let (code, _, err) = run(&mut uptake(&serve, Some(&database)));
        assert_eq!(code, Some(1));
        assert!(err.contains("run `uptake migrate-store` again"), "{err}");
    }
    let (code, out, err) = run(&mut migrate(folder.path(), &database, "5000"));
    assert_eq!(code, Some(0), "{err}");
    let said: Value = serde_json::from_str(&out).unwrap();
    assert!(said["found"].as_u64().unwrap() >= 150, "{said}");
    let old = serve(folder, None);
    let new = serve(tempfile::tempdir().unwrap(), Some(&database));
    assert_eq!(read_every_view(&old.client()), read_every_view(&new.client()));
}
