//! The web pages in Chromium.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{VIEWS, create_key, sample_conversations};
use crate::server::Server;

/// Folder for screenshots of the views.
pub(crate) fn screenshot_folder() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
    let named = std::env::var("UPTAKE_SCREENS");
    named.map_or_else(|_| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screens"), PathBuf::from)
}

/// Runs a part of the script in a browser and returns the problems found.
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

/// Runs a scenario on a server's pages and expects no problems.
#[track_caller]
pub(crate) fn check_pages(server: &Server, what: &Value) {
    check_page_at(&server.url, what);
}

/// Runs a scenario on a page in a file.
#[track_caller]
pub(super) fn file_is_fine(file: &Path, screenshot_folder: &Path) {
    let url = format!("file://{}", file.display());
    check_page_at(&url, &json!({"do": "sweep", "views": [""], "screens": screenshot_folder}));
}

#[track_caller]
fn check_page_at(url: &str, what: &Value) {
    let found = browse(url, what);
    let troubles = found["troubles"].as_array().unwrap();
    assert!(troubles.is_empty(), "{}", serde_json::to_string_pretty(troubles).unwrap());
    assert!(found["checked"].as_u64().unwrap() > 0, "nothing was looked at");
}

#[test]
fn views_without_data_render() {
    let empty = Server::start();
    let screenshot_folder = screenshot_folder().join("empty");
    let once = json!({"do": "sweep", "views": VIEWS, "screens": screenshot_folder, "sizes": ["narrow"], "schemes": ["dark"]});
    check_pages(&empty, &once);
}

#[test]
fn user_text_is_escaped_in_every_view() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    sample_conversations::hostile(&server.client());
    let views =
        ["/", "/conversations", "/conversations/c-hostile", "/conversations?q=%22%3E%3Cscript%3E"];
    let screenshot_folder = screenshot_folder().join("hostile");
    check_pages(&server, &json!({"do": "sweep", "views": views, "screens": screenshot_folder}));
}

#[test]
fn worst_conversation_is_reviewed_with_the_keyboard() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    check_pages(&server, &json!({"do": "review"}));
    let (_, turn) = server.get("/api/v1/turns/dates-1");
    assert_eq!(turn["verdict"]["status"], "accepted", "flipped");
    let (_, turn) = server.get("/api/v1/turns/dates-2");
    let mine = turn["reactions"].as_array().unwrap().iter().find(|one| one["user_id"] == "page");
    assert_eq!(mine.unwrap()["reaction"], "ok");
    let (_, events) = server.get("/api/v1/events?source=user_correction");
    assert_eq!(events["items"][0]["data"]["corrected"], "By order date: 7.");
}

#[test]
fn login_and_logout_in_a_browser() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    let key = create_key(&server, &["--tenant", "default", "--role", "read"]);
    let screenshot_folder = screenshot_folder();
    check_pages(&server, &json!({"do": "login", "key": key, "screens": screenshot_folder}));
}

#[test]
fn experiment_from_a_pattern_and_pair_download_in_a_browser() {
    let server = Server::start();
    sample_conversations::complain(&server.client());
    let better = json!({"message_id": "c-0-1", "data": {"corrected": "EMEA 1.1 M by order date."}});
    assert_eq!(server.post("/api/v1/feedback/correction", &better).0, 201);
    check_pages(&server, &json!({"do": "learn"}));
}

#[test]
fn metrics_update_live() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    // Of all projects, when none is selected.
    let shop = server.client().with_header("X-Uptake-Project", "shop");
    let first = json!({"conversation_id": "c-shop", "turn_id": "shop-1", "text": "Open today?", "response": "Yes."});
    assert_eq!(shop.post("/api/v1/turns", &first).0, 201);
    check_pages(&server, &json!({"do": "live", "project": "shop"}));
}
