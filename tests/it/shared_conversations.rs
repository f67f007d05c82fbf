//! Conversations with several users: a message judges the answers that its user saw.

use serde_json::{Value, json};

use crate::conversation_calls::{TestConversation, read_verdict};
use crate::feedback_calls::counts;
use crate::server::{Server, uptake};

const LAPTOPS: &str = "Here are three laptops under $1000, all of them made for business.";
const TABLETS: &str = "Here are two tablets with a pen.";

/// Ann asks, Bob asks, Ann corrects, Bob thanks.
fn talk_by_turns(server: &Server) {
    let ann = TestConversation::new(server, "shared", "ann");
    let bob = TestConversation::new(server, "shared", "bob");
    ann.send_message("a1", "Find me laptops under $1000");
    ann.answer("a1", LAPTOPS);
    let first = bob.send_message("b1", "Which tablets have a pen?");
    assert_eq!(first["previous"], Value::Null, "Bob saw no answer yet: {first}");
    bob.answer("b1", TABLETS);
    let second = ann.send_message("a2", "No, I meant gaming ones, not business ones");
    assert_eq!(second["previous"]["turn_id"], "a1", "{second}");
    assert_eq!(second["previous"]["status"], "rejected", "{second}");
    ann.answer("a2", "Here are three laptops for gaming.");
    let third = bob.send_message("b2", "Thanks, that is perfect!");
    assert_eq!(third["previous"]["turn_id"], "b1", "{third}");
    assert_eq!(third["previous"]["status"], "accepted", "{third}");
}

#[test]
fn message_judges_the_latest_answer_to_the_same_user() {
    let server = Server::start();
    talk_by_turns(&server);
    let check = |server: &Server| {
        assert_eq!(read_verdict(server, "a1").0, "rejected");
        assert_eq!(read_verdict(server, "b1").0, "accepted");
        assert_eq!(read_verdict(server, "a2").0, "neutral");
        assert_eq!(counts(server, "shared"), [2, 0, 2, 1, 1, 0]);
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    let (_, folder) = server.stop();
    let (code, out, err) = uptake(folder.path(), &["redetect", "--json"]);
    assert_eq!((code, out.contains("\"findings\":0")), (Some(0), true), "{out}{err}");
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    check(&Server::start_in(folder));
}

#[test]
fn identical_question_of_another_user_is_neither_retry_nor_rejection() {
    let server = Server::start();
    let question = "How do I reset my router password?";
    for (turn, user) in [("t1", "ann"), ("t2", "bob")] {
        let talk = TestConversation::new(&server, "shared", user);
        let opened = talk.send_message(turn, question);
        assert_eq!((&opened["retry"], &opened["previous"]), (&Value::Null, &Value::Null));
        talk.answer(turn, "Press the button for ten seconds.");
    }
    let server = server.kill_and_restart();
    assert_eq!(read_verdict(&server, "t1"), ("neutral".into(), 0.5));
    assert_eq!(server.get("/api/v1/turns/t1").1["retries"], 0);
    assert_eq!(counts(&server, "shared"), [0; 6]);
    // The own question is both.
    let again = TestConversation::new(&server, "shared", "ann").send_message("t3", question);
    assert_eq!(again["retry"]["original_turn_id"], "t1", "{again}");
    assert_eq!(again["previous"]["turn_id"], "t1", "{again}");
    assert_eq!(again["previous"]["status"], "rejected", "{again}");
}

#[test]
fn rejection_streak_counts_the_answers_to_the_user() {
    let server = Server::start();
    let ann = TestConversation::new(&server, "shared", "ann");
    let bob = TestConversation::new(&server, "shared", "bob");
    ann.send_message("a1", "Find me laptops under $1000");
    ann.answer("a1", LAPTOPS);
    ann.send_message("a2", "No, I meant gaming laptops, not business laptops");
    ann.answer("a2", LAPTOPS);
    bob.send_message("b1", "Which tablets have a pen?");
    bob.answer("b1", TABLETS);
    bob.send_message("b2", "Thanks, that is perfect!");
    let third = ann.send_message("a3", "No, that's still wrong, these are business laptops");
    assert_eq!(third["previous"]["turn_id"], "a2", "{third}");
    assert_eq!(third["previous"]["rejection_streak"], 2, "{third}");
}

#[test]
fn message_and_turn_without_a_user_concern_any_user() {
    let server = Server::start();
    let nameless = json!({"user_id": null});
    let rows = [
        ("c1", json!({"user_id": "ann"}), nameless.clone()),
        ("c2", nameless.clone(), json!({"user_id": "ann"})),
        ("c3", nameless.clone(), nameless),
    ];
    for (conversation, first, second) in rows {
        let talk = TestConversation::new(&server, conversation, "ann");
        let turn = format!("{conversation}-1");
        talk.send(&turn, "Find me laptops under $1000", &first);
        talk.answer(&turn, LAPTOPS);
        let said = "No, I meant gaming laptops, not business laptops";
        let judged = talk.send(&format!("{conversation}-2"), said, &second);
        assert_eq!(judged["previous"]["turn_id"], turn, "{judged}");
        assert_eq!(judged["previous"]["status"], "rejected", "{judged}");
    }
}
