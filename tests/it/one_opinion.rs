//! A response expresses one opinion, and weak acceptance neither recommends nor blocks anything.

use serde_json::{Value, json};

use crate::conversation_calls::{TestConversation, read_verdict};
use crate::feedback_calls::{counts, react};
use crate::server::Server;

const REVENUE: &str = "Here is the query: SELECT region, sum(revenue) FROM sales GROUP BY region.";
const REUSE: &str = "may be reused";

fn markdown(opened: &Value) -> &str {
    opened["context"]["markdown"].as_str().unwrap()
}

#[test]
fn retry_and_previous_do_not_contradict_each_other() {
    let server = Server::start();
    let rows = [
        ("What is python?", "define python"),
        ("How do I delete my account?", "how can I remove my account?"),
        ("Show me the revenue by region", "show me revenue by region"),
        ("What is python?", "Thanks, perfect! What is python?"),
    ];
    let mut turns = Vec::new();
    for (n, (first, second)) in rows.into_iter().enumerate() {
        let (conversation, turn) = (format!("c{n}"), format!("t{n}-1"));
        let talk = TestConversation::new(&server, &conversation, &conversation);
        talk.send_message(&turn, first);
        talk.answer_with_query(&turn, "Python is a programming language.", "python");
        let opened = talk.send_message(&format!("t{n}-2"), second);
        let (status, intent) = (&opened["previous"]["status"], &opened["retry"]["intent"]);
        if n == 0 {
            assert_eq!((status, intent), (&json!("neutral"), &json!("dissatisfied")), "{opened}");
        }
        assert!((status, intent) != (&json!("accepted"), &json!("dissatisfied")), "{opened}");
        assert!(intent != "dissatisfied" || !markdown(&opened).contains(REUSE), "{opened}");
        turns.push((turn, status.as_str().unwrap().to_owned()));
    }
    let server = server.kill_and_restart();
    for (turn, status) in turns {
        assert_eq!(read_verdict(&server, &turn).0, status, "{turn}");
    }
}

#[test]
fn moving_on_does_not_recommend_the_strategy() {
    let server = Server::start();
    check_moved_on(&server, "before");
    let server = server.kill_and_restart();
    check_moved_on(&server, "after");
}

/// Moves on from an answer without and with a reaction: only the latter recommends its strategy.
fn check_moved_on(server: &Server, prefix: &str) {
    for (n, (thumb, reused)) in [(None, false), (Some("ok"), true)].into_iter().enumerate() {
        let (conversation, turn) = (format!("{prefix}{n}"), format!("{prefix}{n}-1"));
        let talk = TestConversation::new(server, &conversation, &conversation);
        talk.send_message(&turn, "Find me laptops under $1000");
        talk.answer_with_query(&turn, "Here are three laptops made for business.", "laptops");
        if let Some(reaction) = thumb {
            react(server, &conversation, &turn, &json!({"reaction": reaction}));
        }
        let opened = talk.send_message(&format!("{prefix}{n}-2"), "What should I feed my hamster?");
        assert_eq!(opened["previous"]["status"], "accepted", "{opened}");
        assert_eq!(markdown(&opened).contains(REUSE), reused, "{opened}");
    }
}

#[test]
fn praise_of_an_earlier_answer_counts_after_moving_on() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "Write a SQL query for the revenue by region");
    talk.answer("t1", REVENUE);
    let second = talk.send_message("t2", "How do I bake bread at home?");
    assert_eq!(second["previous"]["status"], "accepted", "{second}");
    assert!(second["previous"]["confidence"].as_f64().unwrap() < 0.7, "{second}");
    talk.answer("t2", "Mix flour, water, salt and yeast, let it rise, and bake it.");
    let third = talk.send_message("t3", "the revenue query worked perfectly, thanks");
    assert_eq!(third["previous"]["turn_id"], "t1", "{third}");
    assert_eq!(third["previous"]["status"], "accepted", "{third}");
    assert!(third["previous"]["rn"].is_string(), "{third}");
    assert!(markdown(&third).contains(REUSE), "{third}");
    let server = server.kill_and_restart();
    let (status, confidence) = read_verdict(&server, "t1");
    assert!(status == "accepted" && confidence >= 0.7, "{status} {confidence}");
    assert_eq!(read_verdict(&server, "t2").0, "neutral");
    assert_eq!(counts(&server, "c1"), [1, 0, 1, 1, 0, 0]);
}
