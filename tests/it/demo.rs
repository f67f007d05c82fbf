//! Demo data: loaded once, visible in every view, removed completely.

mod browser_views;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::feedback_calls::turn;
use crate::keys::create;
use crate::privacy::is_on_disk;
use crate::server::{Client, Server, command, uptake};

/// Loaded once for all tests; each test works on a copy.
static LOADED: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = uptake(folder.path(), &["demo", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out.trim(), r#"{"loaded":true,"tenant":"demo"}"#);
    assert!(
        err.contains("loading demo data") && err.contains("loaded 1000 conversations"),
        "{err}"
    );
    folder
});

fn copy_loaded_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(LOADED.path()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    folder
}

fn start_with_demo(folder: TempDir) -> Server {
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.arg("--demo");
    Server::spawn(command, folder)
}

fn demo_client(server: &Server) -> Client {
    server.client().with_header("X-Uptake-Tenant", "demo")
}

#[track_caller]
fn get(client: &Client, path: &str) -> Value {
    let (status, body) = client.get(path);
    assert_eq!(status, 200, "{path}: {body}");
    body
}

fn list<'a>(body: &'a Value, name: &str) -> &'a Vec<Value> {
    body[name].as_array().unwrap_or_else(|| panic!("no {name} in {body}"))
}

#[test]
fn demo_data_fills_every_view_and_is_loaded_once() {
    let server = start_with_demo(copy_loaded_folder());
    let demo = demo_client(&server);
    assert_eq!(get(&demo, "/api/v1/demo"), json!({"loaded": true, "tenant": "demo"}));
    let quality = get(&demo, "/api/v1/feedback/quality/demo?period_days=31");
    let of = |metric: &str, field: &str| quality["metrics"][metric][field].as_f64().unwrap();
    let turns = of("error_rate", "denominator");
    assert!((2000.0..8000.0).contains(&turns), "{turns}");
    for metric in ["satisfaction", "correction_rate", "rejection_rate", "abandonment_rate"] {
        let value = of(metric, "value");
        assert!(value > 0.0 && value < 1.0, "{metric} {value}");
    }
    assert!((0.05..0.6).contains(&of("feedback_coverage", "value")));
    assert!(of("sql_accuracy", "denominator") > 100.0);

    check_patterns(&demo);
    let router = get(&demo, "/api/v1/routers/assistant");
    let choices = |arm: &str| {
        let arm = list(&router, "arms").iter().find(|one| one["id"] == arm).unwrap();
        arm["choices"].as_u64().unwrap()
    };
    assert!(
        choices("atlas-3") > 3 * choices("swift-1"),
        "traffic went to the better one: {router}"
    );

    for path in ["/api/v1/retrieval/most-helpful", "/api/v1/retrieval/most-ignored"] {
        let found = get(&demo, path);
        assert!(found.to_string().contains("doc-"), "{path}: {found}");
    }
    let experiments = get(&demo, "/api/v1/experiments");
    let mut statuses: Vec<&str> = list(&experiments, "experiments")
        .iter()
        .map(|one| one["status"].as_str().unwrap())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["COMPLETED", "RUNNING"]);
    let results = get(&demo, "/api/v1/experiments/demo-short-steps/results");
    assert_eq!(results["verdict"], "better", "{results}");

    let alerts = get(&demo, "/api/v1/alerts");
    let cleared = |alert: &&Value| alert["status"] == "cleared" && alert["metric"] == "error_rate";
    assert!(list(&alerts, "alerts").iter().any(|alert| cleared(&alert)), "{alerts}");
    assert!(list(&get(&demo, "/api/v1/dead-letters"), "items").len() >= 3);
    let calibration = get(&demo, "/api/v1/calibration");
    assert!(calibration.to_string().len() > 50, "{calibration}");
    assert!(list_unsure_verdicts(&demo) >= 10, "there is something to review");
    let (status, pairs) = demo.get("/api/v1/preferences/export?format=dpo");
    assert_eq!(status, 200, "{pairs}");
    assert!(pairs.as_str().unwrap().lines().count() > 20, "{pairs}");
    let wanted = json!({"query": "How many customers do we have in Oregon?"});
    let (status, examples) = demo.post("/api/v1/examples/select", &wanted);
    assert_eq!(status, 200);
    assert!(!list(&examples, "examples").is_empty(), "{examples}");

    let (_, folder) = server.stop();
    let server = start_with_demo(folder);
    let quality = get(&demo_client(&server), "/api/v1/feedback/quality/demo?period_days=31");
    assert_eq!(quality["metrics"]["error_rate"]["denominator"].as_f64(), Some(turns));
}

/// Three failure patterns with many users, and the models that cause them.
fn check_patterns(demo: &Client) {
    let failures = get(demo, "/api/v1/failures?period_days=31");
    let patterns = list(&failures, "patterns");
    let about = |words: &[&str]| {
        patterns.iter().any(|pattern| {
            let label = pattern["label"].as_str().unwrap().to_lowercase();
            let many = pattern["count"].as_u64().unwrap() >= 10;
            many && words.iter().any(|word| label.contains(word)) && pattern["lifts"][0].is_object()
        })
    };
    assert!(about(&["archived"]), "{patterns:?}");
    assert!(about(&["deprecated", "410"]), "{patterns:?}");
    assert!(about(&["time zone", "utc"]), "{patterns:?}");
}

/// Verdicts below the confidence threshold.
fn list_unsure_verdicts(client: &Client) -> usize {
    let (mut after, mut count) = (0, 0);
    loop {
        let page = get(client, &format!("/api/v1/events?source=engine&limit=1000&after={after}"));
        for event in list(&page, "items") {
            let confidence = event["data"]["confidence"].as_f64();
            let middling = confidence.is_some_and(|c| (0.4..0.7).contains(&c));
            count += usize::from(event["data"]["finding"] == "verdict" && middling);
        }
        match page["next"].as_u64() {
            Some(next) if next > after => after = next,
            Some(_) | None => return count,
        }
    }
}

#[test]
fn removing_demo_data_keeps_all_other_data() {
    let server = start_with_demo(copy_loaded_folder());
    turn(&server, "mine", "t-mine");
    let before = get(&server.client(), "/api/v1/events");
    let (code, out, err) = uptake(server.folder(), &["demo", "--remove", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let gone: Value = serde_json::from_str(&out).unwrap();
    assert!(gone["removed"] == true && gone["events"].as_u64().unwrap() > 10_000, "{gone}");
    let check = |server: &Server| {
        let demo = demo_client(server);
        assert_eq!(get(&demo, "/api/v1/demo")["loaded"], false);
        assert_eq!(list(&get(&demo, "/api/v1/events"), "items").len(), 0);
        assert_eq!(list(&get(&demo, "/api/v1/routers"), "routers").len(), 0);
        assert_eq!(list(&get(&demo, "/api/v1/experiments"), "experiments").len(), 0);
        assert_eq!(list(&get(&demo, "/api/v1/alerts"), "alerts").len(), 0);
        assert_eq!(list(&get(&demo, "/api/v1/dead-letters"), "items").len(), 0);
        assert_eq!(list(&get(&demo, "/api/v1/failures?period_days=31"), "patterns").len(), 0);
        let quality = get(&demo, "/api/v1/feedback/quality/demo?period_days=31");
        assert_eq!(quality["metrics"]["error_rate"]["denominator"], 0);
        assert_eq!(get(&demo, "/api/v1/retrieval/most-helpful")["entities"], json!([]));
        assert_eq!(get(&server.client(), "/api/v1/events"), before);
        assert_eq!(get(&server.client(), "/api/v1/turns/t-mine")["turn_id"], "t-mine");
    };
    check(&server);
    let (_, out, _) = uptake(server.folder(), &["demo", "--remove"]);
    assert_eq!(out, "there is no demo data\n");
    // Later events follow the removed ones, also after a restart.
    let last = |server: &Server| {
        turn(server, "mine", "t-later");
        let items = get(&server.client(), "/api/v1/events");
        let items = list(&items, "items").clone();
        (
            items[0]["position"].as_u64().unwrap(),
            items.last().unwrap()["position"].as_u64().unwrap(),
        )
    };
    let (_, folder) = server.stop();
    let server = Server::start_in(folder);
    for word in ["demo-conversation-0001", "demo-user-001", "atlas-3"] {
        assert!(!is_on_disk(&server, word), "{word} is still there");
    }
    let (_, folder) = server.stop();
    let (code, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["changed"], false, "{out}");
    let server = Server::start_in(folder);
    check(&server);
    let (one, other) = last(&server);
    assert!(one > 10_000 && other > one, "{one} {other}");
}

#[test]
fn demo_is_not_loaded_beside_other_data_without_the_flag() {
    let server = Server::start();
    turn(&server, "mine", "t-mine");
    let (_, folder) = server.stop();
    let (code, _, err) = uptake(folder.path(), &["demo"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("already holds other data") && err.contains("--beside"), "{err}");
    let output = command(folder.path(), "127.0.0.1:0").arg("--demo").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "serve --demo refuses as well");
    let (code, _, err) = uptake(folder.path(), &["demo", "--beside", "--conversations", "20"]);
    assert_eq!(code, Some(0), "{err}");
    let (_, out, _) = uptake(folder.path(), &["demo", "--beside"]);
    assert_eq!(out, "demo data is already loaded\n");
    let (code, out, _) = uptake(folder.path(), &["demo", "--remove"]);
    assert!(code == Some(0) && out.starts_with("removed the demo data"), "{out}");
    let server = Server::start_in(folder);
    assert_eq!(get(&server.client(), "/api/v1/turns/t-mine")["turn_id"], "t-mine");
}

#[test]
fn demo_tenant_with_other_data_is_not_changed() {
    let server = Server::start();
    let own = demo_client(&server);
    assert_eq!(own.post("/api/v1/turns", &json!({"turn_id": "t1", "text": "q"})).0, 201);
    assert_eq!(get(&own, "/api/v1/demo")["loaded"], false);
    let (_, out, _) = uptake(server.folder(), &["demo", "--remove"]);
    assert_eq!(out, "there is no demo data\n");
    assert_eq!(own.get("/api/v1/turns/t1").0, 200);
    let (_, folder) = server.stop();
    let (code, _, err) = uptake(folder.path(), &["demo", "--beside"]);
    assert!(code == Some(1) && err.contains("not loaded by `uptake demo`"), "{err}");
}

#[test]
fn clients_cannot_forge_the_demo_marker() {
    let server = Server::start();
    let ingest = create(&server, &["--tenant", "demo", "--role", "ingest"]);
    let admin = create(&server, &["--tenant", "demo", "--role", "admin"]);
    let writer = server.client().with_header("X-API-Key", &ingest);
    let owner = server.client().with_header("X-API-Key", &admin);
    assert_eq!(writer.post("/api/v1/turns", &json!({"turn_id": "t1", "text": "q"})).0, 201);
    let mark = |id: &str| {
        json!({"id": id, "type": "log", "source": "application_log", "category": "quality",
            "data": {"demo": true}, "tags": ["demo"]})
    };
    for id in ["demo.begun", "demo.loaded"] {
        let (status, response) = writer.post("/api/v1/feedback", &mark(id));
        assert_eq!((status, &response["field"]), (422, &json!("id")), "{response}");
        let response = writer.post("/api/v1/feedback/batch", &json!([mark(id)])).1;
        assert_eq!(response["rejected"], 1, "{response}");
        let named = json!({"id": id, "message_id": "t1", "data": {"corrected": "a", "demo": true}});
        assert_eq!(writer.post("/api/v1/feedback/correction", &named).0, 422);
    }
    assert_eq!(writer.post("/api/v1/feedback", &mark("demo.other")).0, 201);
    assert_eq!(get(&owner, "/api/v1/demo")["loaded"], false);
    assert_eq!(owner.delete("/api/v1/demo").1["removed"], false);
    assert_eq!(owner.get("/api/v1/turns/t1").0, 200);
}

fn spawn_loading(folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
    crate::engine::equip(&mut command, folder);
    // Enough conversations that loading is not done before the kill.
    command.args(["demo", "--conversations", "1300", "--data"]).arg(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn interrupted_demo_load_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = spawn_loading(folder.path());
    let written = |folder: &Path| -> u64 {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum()
    };
    while written(folder.path()) < 2_000_000 {
        assert!(child.try_wait().unwrap().is_none(), "it was done before it could be killed");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, out, err) = uptake(folder.path(), &["demo", "--conversations", "30"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("demo data loaded into the tenant demo"), "{out}");
    let server = Server::start_in(folder);
    let period = "/conversations/demo/default/feedback/conversations-in-period?start=2000-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&limit=500";
    let found = get(&demo_client(&server), period);
    let numbers = list(&found, "items").iter().map(|item| {
        let id = item["conversation_id"].as_str().unwrap();
        id.rsplit('-').next().unwrap().parse::<u32>().unwrap()
    });
    assert!(numbers.clone().count() > 3, "{found}");
    assert!(numbers.into_iter().all(|number| number <= 30), "only the second attempt: {found}");
}
