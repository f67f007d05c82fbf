//! `uptake redetect`: turns without findings get them, unchanged findings stay.

use std::io::Write;

use serde_json::{Value, json};

use crate::conversation_calls::{TestConversation, past_time, read_verdict};
use crate::feedback_calls::{counts, react};
use crate::server::{Server, uptake};

const CHAT: &str = r#"{"conversation_id": "chat-1", "messages": [
    {"role": "user", "content": "Find me laptops under $1000"},
    {"role": "assistant", "content": "Here are three laptops made for business."},
    {"role": "user", "content": "No, I meant gaming laptops, not business laptops"},
    {"role": "assistant", "content": "I'm sorry, but I can't help with that."},
    {"role": "user", "content": "That is not helpful at all"},
    {"role": "assistant", "content": "Here are three laptops for gaming."}]}"#;

fn run_redetect(folder: &std::path::Path) -> Value {
    let (code, out, err) = uptake(folder, &["redetect", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn imported_chat_log_gets_findings_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chats.jsonl");
    let mut written = std::fs::File::create(&file).unwrap();
    writeln!(written, "{}", CHAT.replace('\n', " ")).unwrap();
    let (code, _, err) = uptake(folder.path(), &["import", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{err}");
    let first = run_redetect(folder.path());
    assert_eq!(first["turns"], 6, "three questions and three answers: {first}");
    assert!(first["findings"].as_u64().unwrap() >= 5, "{first}");
    assert_eq!(run_redetect(folder.path())["findings"], 0, "nothing is found twice");
    let server = Server::start_in(folder);
    assert_eq!(counts(&server, "chat-1")[2..5], [2, 0, 2], "machine, ok, not_ok");
    let timeline = server.get("/api/v1/conversations/chat-1").1;
    let shown: Vec<&Value> =
        timeline["turns"].as_array().unwrap().iter().map(|t| &t["verdict"]["status"]).collect();
    assert_eq!(shown, ["rejected", "rejected", "neutral"], "{timeline}");
    assert_eq!(timeline["turns"][1]["signals"]["error"]["error_type"], "model_refusal");
    let (_, folder) = server.stop();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
}

#[test]
fn changed_settings_update_findings_but_not_human_feedback() {
    let server = Server::start();
    for conversation in ["c1", "c2"] {
        let talk = TestConversation::new(&server, conversation, conversation);
        let (first, second) = (format!("{conversation}-1"), format!("{conversation}-2"));
        talk.send_message(&first, "Find me laptops under $1000");
        talk.answer(&first, "Here are three laptops made for business.");
        talk.send_message(&second, "What should I feed my hamster?");
        talk.answer(&second, "Pellets, seeds and fresh vegetables.");
        assert_eq!(read_verdict(&server, &first).0, "accepted");
    }
    react(&server, "c2", "c2-1", &json!({"reaction": "not_ok"}));
    let (_, folder) = server.stop();
    let settings = folder.path().join("uptake.toml");
    std::fs::write(&settings, "[detect]\nmode = \"rules\"\nmoved_on = \"neutral\"\n").unwrap();
    let arguments = ["redetect", "--json", "--config", settings.to_str().unwrap()];
    let (code, out, err) = uptake(folder.path(), &arguments);
    assert_eq!((code, out.as_str()), (Some(0), "{\"findings\":2,\"turns\":8}\n"), "{err}");
    let server = Server::start_in(folder);
    assert_eq!(read_verdict(&server, "c1-1"), ("neutral".into(), 0.5));
    assert_eq!(read_verdict(&server, "c2-1"), ("rejected".into(), 1.0));
}

#[test]
fn erased_turns_and_unseen_answers_are_not_judged() {
    let server = Server::start();
    // An answer given after the complaint, a remark without target, and an erased user.
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message_at("t1", "Find me laptops under $1000", 0);
    talk.answer("t1", "Here are three laptops made for business.");
    talk.send_message_at("t2", "What is the capital of France?", 10);
    talk.send_message_at("t3", "No, that is wrong", 20);
    let answer = "The capital of France is Paris.";
    talk.complete("t2", &json!({"response": answer, "completed_at": past_time(40)}));
    talk.answer("t3", "Here are three others.");
    talk.send_message_at("t4", "The tomato soup recipe was awful and far too salty", 60);
    let other = TestConversation::new(&server, "c2", "bob");
    other.send("b1", "How do I bake bread at home?", &json!({"user_id": null}));
    other.answer("b1", "Mix flour, water, salt and yeast.");
    TestConversation::new(&server, "c2", "ann").send_message("a1", "No, that is wrong");
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let turns = ["t1", "t2", "t3", "b1"];
    let before = turns.map(|turn| read_verdict(&server, turn));
    assert_eq!((before[0].0.as_str(), before[3].0.as_str()), ("rejected", "rejected"));
    let reactions = |server: &Server| {
        turns.map(|turn| server.get(&format!("/api/v1/turns/{turn}")).1["reactions"].clone())
    };
    let all = (reactions(&server), counts(&server, "c2"));
    let (_, folder) = server.stop();
    for _ in 0..2 {
        assert_eq!(run_redetect(folder.path())["findings"], 0);
    }
    let server = Server::start_in(folder);
    assert_eq!(turns.map(|turn| read_verdict(&server, turn)), before);
    assert_eq!((reactions(&server), counts(&server, "c2")), all);
}

#[test]
fn report_command_prints_a_conversation_with_evidence() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "ann");
    talk.send_message("t1", "Find me laptops under $1000");
    talk.complete(
        "t1",
        &json!({"response": "Here are three laptops\nmade for \u{1b}[2Jbusiness.",
        "latency_ms": 42_000}),
    );
    talk.send_message("t2", "No, I meant gaming laptops, not business laptops");
    react(&server, "c1", "t1", &json!({"reaction": "not_ok", "text": "too heavy"}));
    let expected = [
        "conversation c1 with ann",
        "  user       Find me laptops under $1000",
        "  assistant  Here are three laptops made for  [2Jbusiness.",
        "  signal     very slow: 42.0 s",
        "  verdict    rejected (confidence 100%, from the user's reaction)",
        "  evidence   negation_start: \"»No«, I meant gaming laptops, not business laptops\"",
        "  reaction   not_ok by ann: too heavy",
        "  assistant  (no answer yet)",
    ];
    let check = |folder: &std::path::Path| {
        let (code, out, err) = uptake(folder, &["report", "c1"]);
        assert_eq!(code, Some(0), "{err}");
        for line in expected {
            assert!(out.lines().any(|found| found == line), "{line:?} is not in\n{out}");
        }
        let (_, out, _) = uptake(folder, &["report"]);
        assert!(out.lines().nth(1).unwrap().starts_with("c1 "), "{out}");
        let (code, _, err) = uptake(folder, &["report", "nowhere"]);
        assert!(code == Some(1) && err.contains("conversation nowhere not found"), "{err}");
        let (_, out, _) = uptake(folder, &["report", "--tenant", "acme"]);
        assert!(out.starts_with("no feedback in this period"), "{out}");
    };
    check(server.folder());
    let (_, folder) = server.stop();
    check(folder.path());
}

#[test]
fn missing_late_verdict_is_detected() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "Find me laptops under $1000");
    talk.send_message("t2", "No, that's wrong");
    talk.answer("t1", "Here are three laptops made for business.");
    assert_eq!(read_verdict(&server, "t1").0, "rejected");
    let before = counts(&server, "c1");
    // A copy of the log without findings and machine reactions.
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = folder.path().join("log.jsonl");
    let output = ["export", "--output", file.to_str().unwrap()];
    assert_eq!(uptake(server.folder(), &output).0, Some(0));
    let log = std::fs::read_to_string(&file).unwrap();
    let is_turn = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["source"] == "turn";
    let turns: Vec<&str> = log.lines().filter(is_turn).collect();
    assert_eq!(turns.len(), 3, "{log}");
    std::fs::write(&file, turns.join("\n")).unwrap();
    let (code, _, err) = uptake(copy.path(), &["import", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{err}");
    let server = Server::start_in(copy);
    assert_eq!(read_verdict(&server, "t1"), ("neutral".into(), 0.5));
    let copy = server.kill_and_leave();
    assert!(run_redetect(copy.path())["findings"].as_u64().unwrap() >= 1);
    assert_eq!(run_redetect(copy.path())["findings"], 0);
    let server = Server::start_in(copy);
    let turn = server.get("/api/v1/turns/t1").1;
    assert_eq!(turn["verdict"]["status"], "rejected", "{turn}");
    assert_eq!(turn["verdict"]["rejection_detected_in"], "t2", "{turn}");
    assert_eq!(counts(&server, "c1"), before);
    let folder = server.kill_and_leave();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
}

#[test]
fn verdict_on_a_named_turn_is_found_again() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "Draw the login flow as a diagram");
    talk.answer("t1", "User -> API: POST /login. API -> Auth: exchange the cookie.");
    talk.send_message("t2", "Which port does the queue use?");
    talk.answer("t2", "The broker listens on port 5672.");
    talk.send_message("t3", "Ah, the login flow diagram was wrong, the token comes first");
    assert_eq!(read_verdict(&server, "t1").0, "rejected");
    let (_, folder) = server.stop();
    assert_eq!(run_redetect(folder.path())["findings"], 0);
}
