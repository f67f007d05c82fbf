//! The HTML report file: complete and self-contained.

use super::browser::{file_is_fine, screenshot_folder};
use super::plain_browser::Reader;
use super::{create_key, sample_conversations};
use crate::server::{Client, Server, uptake};

/// Sends good and bad conversations, a router and hostile text.
fn send_sample_data(client: &Client) {
    sample_conversations::play(client);
    sample_conversations::learn(client, "own");
    sample_conversations::complain(client);
    sample_conversations::hostile(client);
}

/// Checks the contents: a metric with its interval, evidence, a pattern, a model, a router.
#[track_caller]
fn check_contents(page: &str) {
    for part in [
        "default/default",
        "Rejection rate",
        "95% CI",
        "<mark title=\"negation start\">No</mark>",
        "Suggestions",
        "m-large",
        "own-router",
        "EMEA 1.2 M by booked date.",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
}

/// Checks that the page loads nothing, links nowhere and runs no script.
#[track_caller]
fn check_self_contained(page: &str) {
    let (_, style) = page.split_once("<style>").unwrap();
    let style = style.split_once("</style>").unwrap().0;
    assert!(!style.contains("url(") && !style.contains("@import"), "styles ask for nothing");
    // User text is escaped, so every < begins a tag of ours.
    for tag in page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.split([' ', '\n']).next().unwrap();
        for bad in ["script", "link", "img", "a", "form", "iframe", "object", "base"] {
            assert_ne!(name, bad, "<{tag}>");
        }
        for bad in [" src=", " href=", " action=", " onerror=", " onclick=", " onload="] {
            assert!(!tag.contains(bad), "<{tag}>");
        }
    }
    assert!(page.contains("default-src 'none'"), "and it says so to browsers");
}

#[test]
fn report_is_one_self_contained_file() {
    let server = Server::start();
    send_sample_data(&server.client());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quality.html");
    let name = file.to_str().unwrap();
    let (code, out, err) = uptake(server.folder(), &["report", "--days", "7", "--html", name]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    assert!(err.contains("quality.html"), "{err}");
    let page = std::fs::read_to_string(&file).unwrap();
    check_contents(&page);
    check_self_contained(&page);
    file_is_fine(&file, &screenshot_folder().join("report"));
    let (code, _, err) = uptake(server.folder(), &["report", "--html", "--project", "nobody"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("nobody") && err.contains("expected one of default"), "{err}");
    // Without a server too, and to standard output.
    let (_, store) = server.stop();
    let (code, page, err) = uptake(store.path(), &["report", "--html"]);
    assert_eq!(code, Some(0), "{err}");
    check_contents(&page);
    check_self_contained(&page);
}

#[test]
fn report_download_requires_access_and_equals_the_command() {
    let server = Server::start();
    let theirs = server.client().with_header("X-Uptake-Tenant", "theirs");
    sample_conversations::learn(&theirs, "hush");
    sample_conversations::play(&server.client());
    let read = create_key(&server, &["--tenant", "default", "--role", "read"]);
    assert_eq!(Reader::new(&server).get("/report").0, 303, "the door first");
    let visitor = Reader::logged_in(&server, &read);
    assert!(visitor.get("/").1.contains("href=\"/report\""), "the overview leads to it");
    let answer = visitor.answer("GET", "/report?days=7", None);
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-disposition").contains("uptake-default-default.html"));
    assert!(answer.body.contains("negation start") && !answer.body.contains("hush"));
    check_self_contained(&answer.body);
    assert_eq!(visitor.get("/report?tenant=theirs").0, 403);
}

#[test]
fn report_without_data_states_it() {
    let server = Server::start();
    let (code, page, err) = uptake(server.folder(), &["report", "--html"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(page.contains("No data in this period"), "{page}");
    let (code, _, _) = uptake(server.folder(), &["report", "--html", "--json"]);
    assert_eq!(code, Some(2), "one or the other");
}
