//! The demo pages in a real browser.

use serde_json::json;

use super::{copy_loaded_folder, demo_client, get, start_with_demo};
use crate::pages::VIEWS;
use crate::pages::browser::{check_pages, screenshot_folder};
use crate::pages::plain_browser::Reader;

#[test]
fn demo_views_render_at_every_size_and_colour_scheme() {
    let server = start_with_demo(copy_loaded_folder());
    let reader = Reader::new(&server);
    let shows = |view: &str, parts: &[&str]| {
        let page = reader.get(view).1;
        for part in parts {
            assert!(page.contains(part), "{view} does not show {part}");
        }
    };
    shows("/routing", &["href=\"/turns/demo-"]);
    shows("/experiments", &["<h3>Over time", "Difference over time"]);
    shows("/data", &[">correction<", ">rephrase<"]);
    let list = reader.get("/conversations?order=worst").1;
    let (_, rest) = list.split_once("class=\"row-main\" href=\"").unwrap();
    let worst = rest.split(['#', '"']).next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
    assert!(worst.starts_with("/conversations/demo-"), "{worst}");
    let views: Vec<&str> = VIEWS.iter().copied().chain([worst.as_str()]).collect();
    check_pages(
        &server,
        &json!({"do": "sweep", "views": views, "screens": screenshot_folder(), "full": true}),
    );
}

#[test]
fn flipping_the_verdict_of_the_worst_conversation_changes_the_rates() {
    let server = start_with_demo(copy_loaded_folder());
    let demo = demo_client(&server);
    let rejected = || {
        let quality = get(&demo, "/api/v1/feedback/quality/demo?period_days=31");
        quality["metrics"]["rejection_rate"]["numerator"].as_f64().unwrap()
    };
    let before = rejected();
    check_pages(&server, &json!({"do": "worst"}));
    assert_eq!(rejected(), before - 1.0);
}
