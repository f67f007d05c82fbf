//! The page with demo data, in a real browser: what a visitor sees first.

use serde_json::json;

use super::{copy, get, visitor, with_demo};
use crate::pages::VIEWS;
use crate::pages::browser::{is_fine, screens};
use crate::pages::reader::Reader;

#[test]
fn every_view_is_sound_at_every_size_and_in_both_schemes() {
    let server = with_demo(copy());
    let reader = Reader::of(&server);
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
    is_fine(&server, &json!({"do": "sweep", "views": views, "screens": screens(), "full": true}));
}

#[test]
fn the_worst_conversation_is_found_its_verdict_flipped_and_the_rates_move() {
    let server = with_demo(copy());
    let demo = visitor(&server);
    let rejected = || {
        let quality = get(&demo, "/api/v1/feedback/quality/demo?period_days=31");
        quality["metrics"]["rejection_rate"]["numerator"].as_f64().unwrap()
    };
    let before = rejected();
    is_fine(&server, &json!({"do": "worst"}));
    assert_eq!(rejected(), before - 1.0);
}
