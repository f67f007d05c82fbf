//! The loop over HTTP: a message judges the previous answer, the next plan uses it, also after a kill.

use serde_json::{Value, json};

use crate::conversation_calls::{
    TestConversation, past_time, read_verdict, search_strategies, turn_ids,
};
use crate::feedback_calls::{counts, react};
use crate::server::Server;

const LAPTOPS: &str = "Here are three laptops under $1000: the Latitude 3440, the ThinkPad E14 and \
    the ProBook 450. They are made for business.";
const CORRECTION: &str = "No, I meant gaming laptops, not business laptops";

fn start_with_rules() -> Server {
    let settings = [("UPTAKE__DETECT__MODE", "rules")];
    Server::start_with(tempfile::tempdir().unwrap(), &settings)
}

/// Checks the response to the correction.
fn check_planner_context(second: &Value) {
    let previous = &second["previous"];
    assert_eq!(previous["turn_id"], "turn_1233", "{second}");
    assert_eq!(previous["status"], "rejected");
    assert!(previous["confidence"].as_f64().unwrap() >= 0.7, "{previous}");
    assert_eq!(previous["correction_type"], "explicit");
    assert_eq!(previous["user_said"], CORRECTION);
    assert_eq!(
        previous["contrast"],
        json!({"wants": "gaming laptops", "instead_of": "business laptops"})
    );
    assert_eq!(previous["evidence"][0], json!({"start": 0, "end": 2, "rule": "negation_start"}));
    assert_eq!(previous["rejection_streak"], 1);
    assert!(previous["rn"].as_str().unwrap().contains(":turn_1233:artifact:"), "{previous}");
    let context = &second["context"];
    assert_eq!(context["suggest_clarify"], false);
    assert_eq!(context["rewritten_query"], "gaming laptops under $1000");
    let markdown = context["markdown"].as_str().unwrap();
    for line in [
        "## 2. Gathered Context",
        "### Previous Response Feedback",
        "**Status:** REJECTED",
        "**Detected:** Turn turn_1234 detected that Turn turn_1233 was rejected",
        "**User said:** \"No, I meant gaming laptops, not business laptops\"",
        "**Previous strategy:** commerce_search with query \"laptops under $1000\"",
        "**Instruction for Planner:**",
        "- Do NOT reuse the strategy from Turn turn_1233",
        "- User wants GAMING laptops, not business laptops",
        "- Adjust search query to be specific: \"gaming laptops under $1000\"",
        "### Conversation Context",
        "### Session Preferences",
    ] {
        assert!(markdown.lines().any(|found| found == line), "{line} is not in\n{markdown}");
    }
    assert_eq!(turn_ids(&second["strategies"]), Vec::<String>::new(), "{second}");
    assert_eq!(turn_ids(&second["avoid"]), ["turn_1233"]);
    assert_eq!(second["avoid"][0]["user_said"], CORRECTION);
    assert_eq!(second["avoid"][0]["strategy"]["name"], "commerce_search");
}

#[test]
fn rejected_strategy_is_not_offered_again_and_the_planner_gets_the_correction() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "henry", "u1");
    let first = talk.send_message("turn_1233", "Find me laptops under $1000");
    assert_eq!((&first["previous"], &first["retry"]), (&Value::Null, &Value::Null), "{first}");
    talk.answer_with_query("turn_1233", LAPTOPS, "laptops under $1000");
    let search = json!({"query": "laptops under $1000", "include_rejected": true});
    assert_eq!(search_strategies(&server, &search), ["turn_1233"]);

    let second = talk.send_message("turn_1234", CORRECTION);
    check_planner_context(&second);
    let previous = &second["previous"];

    let check = |server: &Server| {
        assert_eq!(search_strategies(server, &search), Vec::<String>::new());
        assert_eq!(counts(server, "henry"), [1, 0, 1, 0, 1, 0]);
        let metadata = server.get("/api/v1/turns/turn_1233/metadata").1;
        assert_eq!(metadata["session_id"], "henry");
        assert_eq!(metadata["validation_outcome"], "APPROVE");
        assert_eq!(metadata["quality_score"], 0.85);
        let feedback = &metadata["user_feedback"];
        assert_eq!(feedback["status"], "rejected");
        assert_eq!(feedback["detected_in_turn"], "turn_1234");
        assert_eq!(feedback["correction_type"], "explicit_correction");
        assert_eq!(feedback["user_said"], CORRECTION);
        assert!(feedback["detected_at"].is_string(), "{feedback}");
        assert_eq!(server.get("/api/v1/turns/turn_1233").1["satisfaction"], -1.0);
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    // The same request gets the same response, and nothing is counted twice.
    let body = json!({"conversation_id": "henry", "user_id": "u1", "turn_id": "turn_1234",
        "text": CORRECTION});
    let (status, again) = server.post("/api/v1/turns", &body);
    assert_eq!((status, &again["previous"]), (200, previous), "{again}");
    check(&server);

    let talk = TestConversation::new(&server, "henry", "u1");
    talk.answer_with_query("turn_1234", LAPTOPS, "gaming laptops under $1000");
    let third =
        talk.send_message("turn_1235", "That's still wrong, these are all business laptops");
    assert_eq!(third["previous"]["turn_id"], "turn_1234", "{third}");
    assert_eq!(third["previous"]["rejection_streak"], 2, "{third}");
    assert_eq!(third["context"]["suggest_clarify"], true);
    let markdown = third["context"]["markdown"].as_str().unwrap();
    assert!(markdown.contains("2 answers in a row were rejected"), "{markdown}");
    assert!(search_strategies(&server, &search).is_empty());
}

#[test]
fn three_corrections_in_a_row_reject_three_turns() {
    for server in [Server::start(), start_with_rules()] {
        let talk = TestConversation::new(&server, "c1", "u1");
        let said = [
            ("t1", "Find me laptops under $1000"),
            ("t2", "No, I meant gaming laptops, not business laptops"),
            ("t3", "No, I meant gaming laptops, not office laptops"),
            ("t4", "No, wrong again. I meant gaming laptops with an RTX card"),
        ];
        for (n, (turn, text)) in said.iter().enumerate() {
            let heard = talk.send_message(turn, text);
            if n > 0 {
                assert_eq!(heard["previous"]["turn_id"], said[n - 1].0, "{heard}");
                assert_eq!(heard["previous"]["status"], "rejected", "{heard}");
                assert_eq!(heard["previous"]["rejection_streak"], n);
            }
            talk.answer_with_query(turn, LAPTOPS, "laptops");
        }
        let server = server.kill_and_restart();
        for turn in ["t1", "t2", "t3"] {
            assert_eq!(read_verdict(&server, turn).0, "rejected", "{turn}");
        }
        assert_eq!(read_verdict(&server, "t4"), ("neutral".into(), 0.5));
        assert_eq!(counts(&server, "c1"), [3, 0, 3, 0, 3, 0]);
    }
}

#[test]
fn message_after_session_end_rejects_but_never_accepts() {
    for server in [Server::start(), start_with_rules()] {
        for (n, (text, secs, expected)) in [
            ("Thanks, that helps a lot!", 60, "accepted"),
            ("Thanks, that helps a lot!", 31 * 60, "neutral"),
            ("What is the capital of Peru?", 31 * 60, "neutral"),
            ("Tell me more about the second one", 31 * 60, "neutral"),
            ("That was wrong, try again", 31 * 60, "rejected"),
        ]
        .into_iter()
        .enumerate()
        {
            let conversation = format!("c{n}");
            let talk = TestConversation::new(&server, &conversation, "u1");
            let (first, second) = (format!("{n}-1"), format!("{n}-2"));
            talk.send_message_at(&first, "How do I bake bread at home?", 0);
            talk.answer(&first, "Mix flour, water, salt and yeast, let it rise, and bake it.");
            let heard = talk.send_message_at(&second, text, secs);
            assert_eq!(heard["previous"]["status"], expected, "{text} {heard}");
            let server = &server;
            assert_eq!(read_verdict(server, &first).0, expected, "{text}");
        }
    }
}

#[test]
fn unrelated_next_question_accepts_weakly_and_writes_no_reaction() {
    for (server, exactly) in [(Server::start(), None), (start_with_rules(), Some(0.55))] {
        let talk = TestConversation::new(&server, "c1", "u1");
        talk.send_message("t1", "Find me laptops under $1000");
        talk.answer("t1", LAPTOPS);
        let heard = talk.send_message("t2", "What should I feed my hamster?");
        let previous = &heard["previous"];
        assert_eq!((&previous["status"], &previous["rn"]), (&json!("accepted"), &Value::Null));
        let server = server.kill_and_restart();
        let (status, confidence) = read_verdict(&server, "t1");
        assert_eq!(status, "accepted");
        assert!((0.5..=0.69).contains(&confidence), "{confidence}");
        assert!(exactly.is_none_or(|exactly| confidence == exactly), "{confidence}");
        assert_eq!(counts(&server, "c1"), [0; 6]);
    }
}

#[test]
fn remark_about_an_earlier_answer_targets_that_turn() {
    for server in [Server::start(), start_with_rules()] {
        let talk = TestConversation::new(&server, "c1", "u1");
        talk.send_message("t1", "Draw a sequence diagram of the login flow");
        talk.answer("t1", "```mermaid\nsequenceDiagram\n  User->>Server: login\n```");
        let second = talk.send_message("t2", "That diagram is wrong, it does not render");
        assert_eq!(second["previous"]["status"], "rejected", "{second}");
        talk.answer(
            "t2",
            "Here is the diagram again: ```mermaid\nsequenceDiagram\n  A->>B: hi\n```",
        );
        let third = talk.send_message("t3", "The first diagram was fine, it was my mistake");
        assert_eq!(third["previous"]["turn_id"], "t1", "{third}");
        assert_eq!(third["previous"]["status"], "accepted", "{third}");
        assert!(third["previous"]["confidence"].as_f64().unwrap() >= 0.7, "{third}");
        assert!(third["previous"]["rn"].as_str().unwrap().contains(":t1:artifact:"), "{third}");
        let server = server.kill_and_restart();
        assert_eq!(read_verdict(&server, "t1").0, "accepted");
        assert_eq!(read_verdict(&server, "t2"), ("neutral".into(), 0.5));
        assert_eq!(counts(&server, "c1"), [2, 0, 2, 1, 1, 0]);
    }
}

/// Judged with the last answer, the message would be neutral.
#[test]
fn message_that_names_an_earlier_answer_judges_that_answer() {
    for server in [Server::start(), start_with_rules()] {
        let talk = TestConversation::new(&server, "c1", "u1");
        talk.send_message("t1", "Draw the login flow as a diagram");
        talk.answer("t1", "User -> API: POST /login. API -> Auth: exchange the cookie.");
        talk.send_message("t2", "Which port does the queue use?");
        talk.answer("t2", "The broker listens on port 5672.");
        let text = "Ah, the login flow diagram was wrong, the token comes first";
        let heard = talk.send_message("t3", text);
        assert_eq!(heard["previous"]["turn_id"], "t1", "{heard}");
        assert_eq!(heard["previous"]["status"], "rejected", "{heard}");
        let server = server.kill_and_restart();
        assert_eq!(read_verdict(&server, "t1").0, "rejected");
        assert_ne!(read_verdict(&server, "t2").0, "rejected");
    }
}

#[test]
fn ambiguous_remarks_target_no_turn() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "How do I restart a kubernetes deployment?");
    talk.answer("t1", "Run kubectl rollout restart deployment/name.");
    let heard = talk.send_message("t2", "The tomato soup recipe was awful and far too salty");
    assert_eq!(heard["previous"], Value::Null, "{heard}");
    let server = server.kill_and_restart();
    assert_eq!(read_verdict(&server, "t1"), ("neutral".into(), 0.5));
    assert_eq!(counts(&server, "c1"), [0; 6]);
    let events = server.get("/api/v1/events?type=quality&source=engine").1;
    let verdict =
        events["items"].as_array().unwrap().iter().find(|e| e["data"]["finding"] == "verdict");
    let verdict = verdict.unwrap();
    assert_eq!(
        (&verdict["data"]["detected_in"], &verdict["message_id"]),
        (&json!("t2"), &Value::Null)
    );
    assert!(
        verdict["data"]["detector"].as_str().unwrap().starts_with("verdict.model/"),
        "{verdict}"
    );
}

#[test]
fn user_reaction_overrides_verdict_and_review_overrides_both() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "Find me laptops under $1000");
    talk.answer_with_query("t1", LAPTOPS, "laptops under $1000");
    talk.send_message("t2", CORRECTION);
    let search = json!({"query": "laptops under $1000"});
    let check = |server: &Server, status: &str, confidence: Option<f64>, offers: usize| {
        let found = read_verdict(server, "t1");
        assert_eq!(found.0, status);
        assert!(confidence.is_none_or(|c| c == found.1), "{found:?}");
        assert_eq!(search_strategies(server, &search).len(), offers, "{status}");
    };
    check(&server, "rejected", None, 0);
    react(&server, "c1", "t1", &json!({"reaction": "ok"}));
    check(&server, "accepted", Some(1.0), 1);
    assert_eq!(server.get("/api/v1/turns/t1").1["satisfaction"], 1.0);
    react(&server, "c1", "t1", &json!({"reaction": null}));
    check(&server, "rejected", None, 0);
    react(&server, "c1", "t1", &json!({"reaction": "not_ok", "text": "far too heavy"}));
    check(&server, "rejected", Some(1.0), 0);
    assert_eq!(counts(&server, "c1"), [2, 1, 1, 0, 2, 0]);
    let (code, reviewed) = server.post("/api/v1/turns/t1/review", &json!({"status": "accepted"}));
    assert_eq!((code, &reviewed["status"]), (200, &json!("accepted")), "{reviewed}");
    check(&server, "accepted", Some(1.0), 1);
    // The machine reaction follows the review; the user's reaction stays.
    assert_eq!(counts(&server, "c1"), [2, 1, 1, 1, 1, 0]);
    let server = server.kill_and_restart();
    check(&server, "accepted", Some(1.0), 1);
    let (_, folder) = server.stop();
    let (_, out, _) = crate::server::uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    let server = Server::start_in(folder);
    check(&server, "accepted", Some(1.0), 1);
    for (body, field) in [(json!({"status": "fine"}), "status"), (json!({}), "status")] {
        let (code, problem) = server.post("/api/v1/turns/t1/review", &body);
        assert_eq!((code, problem["field"].as_str()), (422, Some(field)), "{problem}");
    }
    assert_eq!(server.post("/api/v1/turns/t9/review", &json!({"status": "accepted"})).0, 404);
}

#[test]
fn repeated_question_is_a_retry_also_after_a_restart() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "How do I reset my router password?");
    talk.answer("t1", "Press the button for ten seconds.");
    let server = server.kill_and_restart();
    // Another conversation of the same user.
    let talk = TestConversation::new(&server, "c2", "u1");
    let heard = talk.send_message("t2", "how do i reset my ROUTER password");
    assert_eq!(heard["retry"]["original_turn_id"], "t1", "{heard}");
    assert!(heard["retry"]["similarity"].as_f64().unwrap() >= 0.85, "{heard}");
    assert_eq!(heard["retry"]["intent"], "dissatisfied");
    assert!(heard["retry"]["delay_seconds"].as_f64().unwrap() < 60.0, "{heard}");
    let other = TestConversation::new(&server, "c3", "u2")
        .send_message("t3", "How do I reset my router password?");
    assert_eq!(other["retry"], Value::Null, "another user's question is no retry");
    let path = "/api/v1/users/u1/history";
    assert_eq!(server.get(path).1["queries"].as_array().unwrap().len(), 2);
    assert_eq!(server.client().delete(path).1["forgotten"], 2);
    assert_eq!(server.get(path).1["queries"], json!([]));
    let again = TestConversation::new(&server, "c4", "u1")
        .send_message("t4", "How do I reset my router password?");
    assert_eq!(again["retry"], Value::Null, "{again}");
    assert_eq!(server.get("/api/v1/turns/t1").1["retries"], 1);
}

#[test]
fn planner_uses_the_current_verdict_not_a_single_message() {
    let server = Server::start();
    for (n, judge) in ["reaction", "review", "message"].into_iter().enumerate() {
        let (conversation, first) = (format!("c{n}"), format!("t{n}-1"));
        let talk = TestConversation::new(&server, &conversation, &conversation);
        talk.send_message(&first, "Find me cheap laptops for students");
        talk.answer_with_query(&first, LAPTOPS, "laptops");
        match judge {
            "reaction" => {
                drop(react(&server, &conversation, &first, &json!({"reaction": "not_ok"})))
            }
            "review" => {
                let path = format!("/api/v1/turns/{first}/review");
                assert_eq!(server.post(&path, &json!({"status": "rejected"})).0, 200);
            }
            // Never answered, so the first turn stays the last answered one.
            _ => drop(talk.send_message(&format!("t{n}-2"), CORRECTION)),
        }
        let next = talk.send_message(&format!("t{n}-3"), "What is a good recipe for pancakes?");
        let markdown = next["context"]["markdown"].as_str().unwrap();
        assert!(markdown.contains("**Status:** REJECTED"), "{judge}: {markdown}");
        assert!(markdown.contains("Do NOT reuse the strategy"), "{judge}: {markdown}");
        assert!(!markdown.contains("may be reused"), "{judge}: {markdown}");
    }
}

#[test]
fn replayed_request_gets_the_original_response() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "Find me laptops under $1000");
    talk.answer_with_query("t1", LAPTOPS, "laptops");
    talk.send_message("t2", CORRECTION);
    talk.answer_with_query("t2", LAPTOPS, "laptops");
    let body = json!({"conversation_id": "c1", "user_id": "u1", "turn_id": "t3", "response": LAPTOPS,
        "text": "No, wrong again, I meant gaming laptops", "include": ["context"]});
    let first = server.post("/api/v1/turns", &body).1;
    assert_eq!(first["previous"]["rejection_streak"], 2, "{first}");
    talk.send_message("t4", "Thanks, that is perfect!");
    let (status, again) = server.post("/api/v1/turns", &body);
    assert_eq!(status, 200);
    for part in ["previous", "retry", "context", "signals"] {
        assert_eq!(again[part], first[part], "{part}");
    }
}

#[test]
fn no_acceptance_across_session_end_or_of_unanswered_turns() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message_at("t1", "Draw a sequence diagram of the login flow", 0);
    talk.answer("t1", "```mermaid\nsequenceDiagram\n  User->>Server: login\n```");
    talk.send_message_at("t2", "How do I cook tomato soup?", 7200);
    talk.answer("t2", "Fry onions, add tomatoes, simmer, blend.");
    let heard = talk.send_message_at("t3", "The login diagram was perfect, thanks", 7260);
    assert_eq!(heard["previous"], Value::Null, "{heard}");
    assert_eq!(read_verdict(&server, "t1").0, "neutral");
    let talk = TestConversation::new(&server, "c2", "u2");
    talk.send_message("m1", "How tall is Mount Everest?");
    talk.answer("m1", "It is 8 849 metres tall.");
    talk.send_message("m2", "And K2?");
    talk.answer("m2", "It is 8 611 metres tall.");
    let heard = talk.send_message("m3", "The first diagram was fine, it was my mistake");
    assert_eq!(heard["previous"], Value::Null, "{heard}");
    assert_eq!(read_verdict(&server, "m2"), ("neutral".into(), 0.5));
}

#[test]
fn identical_question_rejects_the_previous_answer() {
    for server in [Server::start(), start_with_rules()] {
        let questions = ["What is the capital of Peru?", "How do I reset my router password?"];
        for (n, question) in questions.into_iter().enumerate() {
            let conversation = format!("c{n}");
            let talk = TestConversation::new(&server, &conversation, &conversation);
            talk.send_message(&format!("{n}-1"), question);
            talk.answer(&format!("{n}-1"), "I think it is somewhere in the manual.");
            let heard = talk.send_message(&format!("{n}-2"), question);
            assert_eq!(heard["previous"]["status"], "rejected", "{heard}");
            assert_eq!(heard["previous"]["correction_type"], "rephrased", "{heard}");
        }
    }
}

#[test]
fn regenerate_button_is_a_retry() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "How do I reset my router password?");
    talk.answer("t1", "Press the button for ten seconds.");
    let event = |id: &str, kind: &str| {
        json!({"id": id, "type": "implicit", "source": "user_interaction", "category": "quality",
            "session_id": "c1", "message_id": "t1", "user_id": "u1", "data": {"kind": kind}})
    };
    for (id, kind) in [("e1", "copy"), ("e2", "regenerate"), ("e2", "regenerate")] {
        assert!(server.post("/api/v1/feedback", &event(id, kind)).0 < 300);
    }
    let server = server.kill_and_restart();
    assert_eq!(server.get("/api/v1/turns/t1").1["retries"], 1);
    let log = server.get("/api/v1/events?type=quality&source=engine").1;
    let retry = log["items"].as_array().unwrap().iter().find(|e| e["data"]["finding"] == "retry");
    let data = &retry.unwrap()["data"];
    assert_eq!((&data["similarity"], &data["intent"]), (&json!(1.0), &json!("dissatisfied")));
}

#[test]
fn failed_answer_returns_error_signals() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    for (n, (body, error_type)) in [
        (json!({"response": "Press the button for ten seconds, then wait."}), Value::Null),
        (json!({"error": "timeout", "status": "error"}), json!("execution_error")),
        (json!({"response": ""}), json!("empty_response")),
        (json!({"response": "I'm sorry, but I can't help with that."}), json!("model_refusal")),
    ]
    .into_iter()
    .enumerate()
    {
        let turn = format!("t{n}");
        talk.send(&turn, "How do I reset my router?", &json!({}));
        let response = talk.complete(&turn, &body);
        let error = &response["signals"]["error"];
        assert_eq!(error["error_type"], error_type, "{response}");
        assert_eq!(error["occurred"], !error_type.is_null(), "{response}");
        assert_eq!(response["signals"]["latency"], Value::Null);
        let path = format!("/api/v1/turns/{turn}/complete");
        assert_eq!(server.post(&path, &body).1["signals"], response["signals"], "a repeat");
        assert_eq!(server.get(&format!("/api/v1/turns/{turn}")).1["signals"], response["signals"]);
    }
    for (n, (started, completed, seconds, tolerance)) in
        [(0, 10, 10.0, "high"), (0, 11, 11.0, "medium"), (0, 31, 31.0, "low"), (5, 0, 0.0, "high")]
            .into_iter()
            .enumerate()
    {
        let turn = format!("p{n}");
        talk.send(&turn, "How do I reset my router?", &json!({}));
        let body = json!({"response": "Press the button for ten seconds.", "accepted": n != 2,
            "started_at": past_time(started), "completed_at": past_time(completed)});
        let response = talk.complete(&turn, &body);
        let expected = json!({"seconds": seconds, "tolerance": tolerance, "accepted": n != 2});
        assert_eq!(response["signals"]["latency"], expected, "{response}");
    }
    let Value::String(page) = server.get("/metrics").1 else { panic!("not a text") };
    assert!(page.contains("uptake_clock_skew_total 1"), "{page}");
}
