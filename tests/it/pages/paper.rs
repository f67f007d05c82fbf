//! The report as one file: what was sent is in it, and it needs nobody.

use super::browser::{file_is_fine, screens};
use super::reader::Reader;
use super::{key, scene};
use crate::server::{Client, Server, uptake};

/// Everything at once: what went well and wrong, a router, hostile words.
fn play(client: &Client) {
    scene::play(client);
    scene::learn(client, "own");
    scene::complain(client);
    scene::hostile(client);
}

/// What must be in it: a figure with its interval, evidence, a pattern, a model, a router.
#[track_caller]
fn tells_all(page: &str) {
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

/// Nothing in it asks anybody for anything, leads anywhere or runs.
#[track_caller]
fn stands_alone(page: &str) {
    let (_, style) = page.split_once("<style>").unwrap();
    let style = style.split_once("</style>").unwrap().0;
    assert!(!style.contains("url(") && !style.contains("@import"), "styles ask for nothing");
    // What people wrote is escaped, so every < begins a tag of ours.
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
fn a_report_is_one_file_that_needs_nobody() {
    let server = Server::start();
    play(&server.client());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quality.html");
    let name = file.to_str().unwrap();
    let (code, out, err) = uptake(server.folder(), &["report", "--days", "7", "--html", name]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    assert!(err.contains("quality.html"), "{err}");
    let page = std::fs::read_to_string(&file).unwrap();
    tells_all(&page);
    stands_alone(&page);
    file_is_fine(&file, &screens().join("report"));
    let (code, _, err) = uptake(server.folder(), &["report", "--html", "--project", "nobody"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("nobody") && err.contains("expected one of default"), "{err}");
    // Without a server too, and to standard output.
    let (_, store) = server.stop();
    let (code, page, err) = uptake(store.path(), &["report", "--html"]);
    assert_eq!(code, Some(0), "{err}");
    tells_all(&page);
    stands_alone(&page);
}

#[test]
fn the_page_gives_the_same_file_to_whom_it_is_for() {
    let server = Server::start();
    let theirs = server.client().with("X-Uptake-Tenant", "theirs");
    scene::learn(&theirs, "hush");
    scene::play(&server.client());
    let read = key(&server, &["--tenant", "default", "--role", "read"]);
    assert_eq!(Reader::of(&server).get("/report").0, 303, "the door first");
    let visitor = Reader::logged_in(&server, &read);
    assert!(visitor.get("/").1.contains("href=\"/report\""), "the overview leads to it");
    let answer = visitor.answer("GET", "/report?days=7", None);
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-disposition").contains("uptake-default-default.html"));
    assert!(answer.body.contains("negation start") && !answer.body.contains("hush"));
    stands_alone(&answer.body);
    assert_eq!(visitor.get("/report?tenant=theirs").0, 403);
}

#[test]
fn a_report_of_nothing_says_so() {
    let server = Server::start();
    let (code, page, err) = uptake(server.folder(), &["report", "--html"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(page.contains("No data in this period"), "{page}");
    let (code, _, _) = uptake(server.folder(), &["report", "--html", "--json"]);
    assert_eq!(code, Some(2), "one or the other");
}
