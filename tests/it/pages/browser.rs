//! What a person sees and does, in Chromium.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{VIEWS, key, scene};
use crate::server::Server;

/// Where pictures of the views go, for people to look at.
pub(crate) fn screens() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
    let named = std::env::var("UPTAKE_SCREENS");
    named.map_or_else(|_| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screens"), PathBuf::from)
}

/// Runs a part of the script in a browser; it answers with what is not as it should be.
#[track_caller]
fn browse(url: &str, what: &Value) -> Value {
    let needed = Command::new("scripts/need").arg("chromium:chromium").status().unwrap();
    assert!(needed.success(), "there is no Chromium, and it cannot be installed");
    let found = Command::new("scripts/python-with")
        .args(["pages", "playwright==1.65.0", "axe-playwright-python==0.1.8"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "no Python with Playwright could be made: {said}");
    let python = String::from_utf8(found.stdout).unwrap();
    let output = Command::new(python.trim())
        .arg("tests/it/pages/browser.py")
        .args([url, &what.to_string()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Does something with a server's pages, and finds nothing wrong.
#[track_caller]
pub(crate) fn is_fine(server: &Server, what: &Value) {
    is_fine_at(&server.url, what);
}

/// The same with a file that is a page.
#[track_caller]
pub(super) fn file_is_fine(file: &Path, screens: &Path) {
    let url = format!("file://{}", file.display());
    is_fine_at(&url, &json!({"do": "sweep", "views": [""], "screens": screens}));
}

#[track_caller]
fn is_fine_at(url: &str, what: &Value) {
    let found = browse(url, what);
    let troubles = found["troubles"].as_array().unwrap();
    assert!(troubles.is_empty(), "{}", serde_json::to_string_pretty(troubles).unwrap());
    assert!(found["checked"].as_u64().unwrap() > 0, "nothing was looked at");
}

#[test]
fn views_without_any_data_are_sound() {
    let empty = Server::start();
    let screens = screens().join("empty");
    let once = json!({"do": "sweep", "views": VIEWS, "screens": screens, "sizes": ["narrow"], "schemes": ["dark"]});
    is_fine(&empty, &once);
}

#[test]
fn hostile_words_are_only_words() {
    let server = Server::start();
    scene::play(&server.client());
    scene::hostile(&server.client());
    let views =
        ["/", "/conversations", "/conversations/c-hostile", "/conversations?q=%22%3E%3Cscript%3E"];
    let screens = screens().join("hostile");
    is_fine(&server, &json!({"do": "sweep", "views": views, "screens": screens}));
}

#[test]
fn the_worst_conversation_is_read_flipped_and_corrected_by_keys() {
    let server = Server::start();
    scene::play(&server.client());
    is_fine(&server, &json!({"do": "review"}));
    let (_, turn) = server.get("/api/v1/turns/dates-1");
    assert_eq!(turn["verdict"]["status"], "accepted", "flipped");
    let (_, turn) = server.get("/api/v1/turns/dates-2");
    let mine = turn["reactions"].as_array().unwrap().iter().find(|one| one["user_id"] == "page");
    assert_eq!(mine.unwrap()["reaction"], "ok");
    let (_, events) = server.get("/api/v1/events?source=user_correction");
    assert_eq!(events["items"][0]["data"]["corrected"], "By order date: 7.");
}

#[test]
fn one_logs_in_and_out_in_a_browser() {
    let server = Server::start();
    scene::play(&server.client());
    let key = key(&server, &["--tenant", "default", "--role", "read"]);
    let screens = screens();
    is_fine(&server, &json!({"do": "login", "key": key, "screens": screens}));
}

#[test]
fn a_pattern_is_tried_and_pairs_are_downloaded_in_a_browser() {
    let server = Server::start();
    scene::complain(&server.client());
    let better = json!({"message_id": "c-0-1", "data": {"corrected": "EMEA 1.1 M by order date."}});
    assert_eq!(server.post("/api/v1/feedback/correction", &better).0, 201);
    is_fine(&server, &json!({"do": "learn"}));
}

#[test]
fn figures_are_live() {
    let server = Server::start();
    scene::play(&server.client());
    // Of all projects, where none is chosen.
    let shop = server.client().with("X-Uptake-Project", "shop");
    let first = json!({"conversation_id": "c-shop", "turn_id": "shop-1", "text": "Open today?", "response": "Yes."});
    assert_eq!(shop.post("/api/v1/turns", &first).0, 201);
    is_fine(&server, &json!({"do": "live", "project": "shop"}));
}
