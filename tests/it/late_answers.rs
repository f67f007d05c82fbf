//! Answers that are logged after the message about them, and turns that arrive out of order.

use serde_json::{Value, json};

use crate::conversation_calls::{TestConversation, past_time, read_verdict};
use crate::feedback_calls::counts;
use crate::server::{Server, uptake};

const LAPTOPS: &str = "Here are three laptops under $1000, all of them made for business.";

/// Neither redetection nor a rebuild changes anything.
fn check_stored_findings(server: Server) -> Server {
    let (_, folder) = server.stop();
    let (code, out, err) = uptake(folder.path(), &["redetect", "--json"]);
    assert_eq!((code, out.contains("\"findings\":0")), (Some(0), true), "{out}{err}");
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    Server::start_in(folder)
}

#[test]
fn message_is_judged_when_the_answer_arrives() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "Find me laptops under $1000");
    let second = talk.send_message("t2", "No, that's wrong");
    assert_eq!(second["previous"], Value::Null, "{second}");
    assert_eq!(read_verdict(&server, "t1"), ("neutral".into(), 0.5));
    talk.answer("t1", LAPTOPS);
    let check = |server: &Server| {
        let turn = server.get("/api/v1/turns/t1").1;
        assert_eq!(turn["verdict"]["status"], "rejected", "{turn}");
        assert_eq!(turn["verdict"]["rejection_detected_in"], "t2", "{turn}");
        assert_eq!(counts(server, "c1"), [1, 0, 1, 0, 1, 0]);
    };
    check(&server);
    // Repeats of both requests change nothing.
    let server = server.kill_and_restart();
    check(&server);
    let talk = TestConversation::new(&server, "c1", "u1");
    assert_eq!(talk.answer("t1", LAPTOPS)["replayed"], true);
    let opening = json!({"conversation_id": "c1", "turn_id": "t2", "user_id": "u1",
        "text": "No, that's wrong"});
    assert_eq!(server.post("/api/v1/turns", &opening).0, 200);
    check(&server);
    check(&check_stored_findings(server));
}

#[test]
fn answers_logged_one_turn_late_get_the_verdicts_of_their_own_messages() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "Find me laptops under $1000");
    talk.send_message("t2", "No, I meant gaming laptops, not business laptops");
    talk.answer("t1", LAPTOPS);
    // The answer to t2 is not logged yet, so the message seems to be about t1.
    let third = talk.send_message("t3", "Thanks, that is perfect!");
    assert_eq!(third["previous"]["turn_id"], "t1", "{third}");
    talk.answer("t2", "Here are three laptops for gaming.");
    let check = |server: &Server| {
        assert_eq!(read_verdict(server, "t1").0, "rejected");
        assert_eq!(read_verdict(server, "t2").0, "accepted");
        assert_eq!(counts(server, "c1"), [2, 0, 2, 1, 1, 0]);
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    check(&check_stored_findings(server));
}

#[test]
fn order_of_arrival_does_not_change_verdicts() {
    const SAID: [&str; 4] = [
        "Find me laptops under $1000",
        "No, I meant gaming laptops, not business laptops",
        "Thanks, that is perfect!",
        "What should I feed my hamster?",
    ];
    let server = Server::start();
    let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [0, 2, 1, 3], [2, 3, 0, 1]];
    let conversations = orders.map(|order| order.map(|n| n.to_string()).concat());
    for (order, conversation) in orders.into_iter().zip(&conversations) {
        let talk = TestConversation::new(&server, conversation, conversation);
        for n in order {
            let more = json!({"ts": past_time(60 * n as u32), "response": LAPTOPS});
            talk.send(&format!("{conversation}-{n}"), SAID[n], &more);
        }
    }
    let check = |server: &Server| {
        for conversation in &conversations {
            let turns = [0, 1, 2, 3].map(|n| format!("{conversation}-{n}"));
            let found = turns.each_ref().map(|turn| read_verdict(server, turn).0);
            assert_eq!(found, ["rejected", "accepted", "accepted", "neutral"], "{conversation}");
            let reactions = turns.map(|turn| {
                let shown = server.get(&format!("/api/v1/turns/{turn}")).1;
                shown["reactions"].as_array().unwrap().len()
            });
            assert_eq!(reactions, [1, 1, 0, 0], "{conversation}");
        }
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    check(&check_stored_findings(server));
}

#[test]
fn unseen_old_and_foreign_answers_are_not_judged() {
    let server = Server::start();
    // Completed after the message, too late, and by another user.
    let rows = [
        ("c1", "u1", 10, json!({"response": LAPTOPS, "completed_at": past_time(40)}), "neutral"),
        ("c2", "u2", 10, json!({"response": LAPTOPS, "completed_at": past_time(5)}), "rejected"),
        ("c3", "u3", 3700, json!({"response": LAPTOPS}), "neutral"),
        ("c4", "eve", 10, json!({"response": LAPTOPS}), "neutral"),
    ];
    for (conversation, user, secs, answer, _) in &rows {
        let first = format!("u{}", &conversation[1..]);
        let (turn, next) = (format!("{conversation}-1"), format!("{conversation}-2"));
        let talk = TestConversation::new(&server, conversation, &first);
        talk.send_message_at(&turn, "Find me laptops under $1000", 0);
        let other = TestConversation::new(&server, conversation, user);
        other.send_message_at(&next, "No, that is wrong", *secs);
        talk.complete(&turn, answer);
    }
    let check = |server: &Server| {
        for (conversation, _, _, _, expected) in &rows {
            let found = read_verdict(server, &format!("{conversation}-1")).0;
            assert_eq!(found, *expected, "{conversation}");
        }
    };
    check(&server);
    check(&check_stored_findings(server.kill_and_restart()));
}

#[test]
fn erased_or_textless_turn_between_does_not_hide_a_late_answer() {
    let server = Server::start();
    for (conversation, between) in [("c1", "Which tablets have a pen?"), ("c2", "")] {
        let of = |name: &str| format!("{conversation}-{name}");
        let ann = TestConversation::new(&server, conversation, "ann");
        ann.send_message(&of("t1"), "Find me laptops under $1000");
        let bob = TestConversation::new(&server, conversation, "bob");
        let user = if between.is_empty() { json!(null) } else { json!("bob") };
        bob.send(&of("b1"), between, &json!({"user_id": user}));
        bob.answer(&of("b1"), "Here are two tablets with a pen.");
    }
    assert_eq!(server.client().delete("/api/v1/users/bob").0, 200);
    for conversation in ["c1", "c2"] {
        let of = |name: &str| format!("{conversation}-{name}");
        let ann = TestConversation::new(&server, conversation, "ann");
        ann.send_message(&of("t2"), "No, that's wrong");
        ann.answer(&of("t1"), LAPTOPS);
    }
    let check = |server: &Server| {
        for turn in ["c1-t1", "c2-t1"] {
            assert_eq!(read_verdict(server, turn).0, "rejected", "{turn}");
        }
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    check(&check_stored_findings(server));
}

/// A rating that quotes the question and the answer, without the id of the turn.
fn rate_quoting(
    server: &Server,
    conversation: &str,
    message: Option<&str>,
    secs: u32,
    query: &str,
) {
    let body = json!({"type": "explicit", "source": "user_rating", "category": "quality",
        "session_id": conversation, "user_id": "u1", "message_id": message,
        "timestamp": past_time(secs),
        "data": {"rating": "positive", "query": query, "response": LAPTOPS}});
    let (status, answer) = server.post("/api/v1/feedback", &body);
    assert_eq!(status, 201, "{answer}");
}

#[test]
fn quoted_copy_does_not_take_the_verdict_of_the_turn() {
    const QUESTION: &str = "Find me laptops under $1000";
    let server = Server::start();
    for (conversation, message) in [("c1", None), ("c2", Some("app-7"))] {
        let (first, second) = (format!("{conversation}-1"), format!("{conversation}-2"));
        let talk = TestConversation::new(&server, conversation, "u1");
        talk.send_message_at(&first, QUESTION, 0);
        let done = json!({"response": LAPTOPS, "completed_at": past_time(5)});
        talk.complete(&first, &done);
        rate_quoting(&server, conversation, message, 60, QUESTION);
        let said = talk.send_message_at(&second, "No, that's wrong", 120);
        assert_eq!(said["previous"]["turn_id"], first.as_str(), "{said}");
    }
    // The same with a late answer, and a quotation that sounds like a message about it.
    let talk = TestConversation::new(&server, "c3", "u1");
    talk.send_message_at("c3-1", QUESTION, 0);
    rate_quoting(&server, "c3", None, 60, QUESTION);
    talk.send_message_at("c3-2", "No, that's wrong", 120);
    talk.answer("c3-1", LAPTOPS);
    let talk = TestConversation::new(&server, "c4", "u1");
    talk.send_message_at("c4-1", QUESTION, 0);
    rate_quoting(&server, "c4", None, 60, "No, that's wrong");
    talk.answer("c4-1", LAPTOPS);
    // Without a turn that was sent, the quoted one is judged.
    rate_quoting(&server, "c5", Some("app-8"), 60, QUESTION);
    let talk = TestConversation::new(&server, "c5", "u1");
    let said = talk.send_message_at("c5-2", "No, that's wrong", 120);
    assert_eq!(said["previous"]["turn_id"], "app-8", "{said}");
    let check = |server: &Server| {
        for turn in ["c1-1", "c2-1", "c3-1"] {
            assert_eq!(read_verdict(server, turn).0, "rejected", "{turn}");
        }
        assert_eq!(read_verdict(server, "app-7").0, "accepted", "as rated");
        assert_eq!(read_verdict(server, "c4-1"), ("neutral".into(), 0.5));
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    check(&check_stored_findings(server));
}

#[test]
fn quoted_copy_does_not_count_in_the_rejection_streak() {
    const QUESTION: &str = "Find me laptops under $1000";
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message_at("t1", QUESTION, 0);
    talk.complete("t1", &json!({"response": LAPTOPS, "completed_at": past_time(5)}));
    let copy = json!({"type": "explicit", "source": "user_rating", "category": "quality",
        "session_id": "c1", "user_id": "u1", "message_id": "app-7", "timestamp": past_time(60),
        "data": {"rating": "negative", "query": QUESTION, "response": LAPTOPS}});
    assert_eq!(server.post("/api/v1/feedback", &copy).0, 201);
    let check = |said: &Value| {
        assert_eq!(said["previous"]["turn_id"], "t1", "{said}");
        assert_eq!(said["previous"]["rejection_streak"], 1, "{said}");
    };
    check(&talk.send_message_at("t2", "No, that's wrong", 120));
    let server = server.kill_and_restart();
    let again = json!({"conversation_id": "c1", "user_id": "u1", "turn_id": "t2",
        "text": "No, that's wrong", "ts": past_time(120)});
    let (status, repeated) = server.post("/api/v1/turns", &again);
    assert_eq!(status, 200, "{repeated}");
    check(&repeated);
}

#[test]
fn late_praise_of_a_repeated_question_stays_neutral() {
    // Below the similarity of a rejection, so that a message can be praise and a repetition.
    let settings = [("UPTAKE__DETECT__RETRY_SIMILARITY", "0.6")];
    let server = Server::start_with(tempfile::tempdir().unwrap(), &settings);
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "What is python?");
    let second = talk.send_message("t2", "Thanks, perfect! What is python?");
    assert_eq!(second["retry"]["original_turn_id"], "t1", "{second}");
    assert_eq!(second["retry"]["intent"], "dissatisfied", "{second}");
    talk.answer("t1", "Python is a programming language.");
    // The other order: both are detected together, and agree.
    let talk = TestConversation::new(&server, "c2", "u2");
    talk.send_message("t3", "What is python?");
    talk.answer("t3", "Python is a programming language.");
    let second = talk.send_message("t4", "Thanks, perfect! What is python?");
    let found = (&second["previous"]["status"], &second["retry"]["intent"]);
    assert_eq!(found, (&json!("accepted"), &json!("exploratory")), "{second}");
    let check = |server: &Server| {
        assert_eq!(read_verdict(server, "t1"), ("neutral".into(), 0.5));
        assert_eq!(read_verdict(server, "t3").0, "accepted");
        assert_eq!((counts(server, "c1"), counts(server, "c2")), ([0; 6], [1, 0, 1, 1, 0, 0]));
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    check(&check_stored_findings(server));
}

#[test]
fn answer_is_judged_by_a_message_at_most_20_turns_later() {
    let server = Server::start();
    // Messages of other users lie between the question and the message about its answer.
    for (conversation, between) in [("near", 19), ("far", 20)] {
        let ann = TestConversation::new(&server, conversation, "ann");
        ann.send_message_at(&format!("{conversation}-q"), "Find me laptops under $1000", 0);
        let bob = TestConversation::new(&server, conversation, "bob");
        for turn in 0..between {
            let text = format!("What is the price of lamp {turn}?");
            bob.send_message_at(&format!("{conversation}-{turn}"), &text, 1 + turn);
        }
        let complaint = format!("{conversation}-m");
        ann.send_message_at(&complaint, "No, that's wrong", 60);
        ann.answer(&format!("{conversation}-q"), LAPTOPS);
    }
    let check = |server: &Server| {
        assert_eq!(read_verdict(server, "near-q").0, "rejected");
        assert_eq!(read_verdict(server, "far-q").0, "neutral");
    };
    check(&server);
    check(&server.kill_and_restart());
}
