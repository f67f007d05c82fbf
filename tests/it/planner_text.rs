//! The planner context: text for a prompt, fixed sections on request, and clarifying questions.

use serde_json::{Value, json};

use crate::conversation_calls::TestConversation;
use crate::server::Server;

const CORRECTION: &str = "No, I meant gaming laptops, not business laptops";

fn markdown(opened: &Value) -> &str {
    opened["context"]["markdown"].as_str().unwrap()
}

#[test]
fn planner_text_is_ready_for_a_prompt_and_sections_are_on_request() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "henry", "u1");
    let include = json!({"include": ["context"]});
    let first = talk.send("turn_1233", "Find me laptops under $1000", &include);
    assert_eq!(markdown(&first), "", "nothing to say yet: {first}");
    let laptops = "Here are three laptops made for business.";
    talk.answer_with_query("turn_1233", laptops, "laptops under $1000");
    let second = talk.send("turn_1234", CORRECTION, &include);
    let expected = r#"### Feedback on the previous answer
The user rejected the answer: "No, I meant gaming laptops, not business laptops"
Question: "Find me laptops under $1000"
Strategy: commerce_search with query "laptops under $1000"
Problem: Wanted gaming laptops, got business laptops

### Instructions
- Do NOT reuse the strategy of the previous answer
- User wants GAMING laptops, not business laptops
- Adjust search query to be specific: "gaming laptops under $1000"

### Conversation so far
- User asked "Find me laptops under $1000", answered "Here are three laptops made for business." with commerce_search (rejected)

### Preferences of the user
- Rejected strategies: commerce_search (once)
"#;
    assert_eq!(markdown(&second), expected);
    assert!(!second["context"]["instructions"].to_string().contains("turn_"), "{second}");
    let server = server.kill_and_restart();
    let mut body = json!({"conversation_id": "henry", "user_id": "u1", "turn_id": "turn_1234",
        "text": CORRECTION, "include": ["context"]});
    assert_eq!(markdown(&server.post("/api/v1/turns", &body).1), expected);
    // A repeat may ask for the other format.
    body["context_format"] = json!("sections");
    let (status, sections) = server.post("/api/v1/turns", &body);
    assert_eq!(status, 200, "{sections}");
    for line in [
        "## 2. Gathered Context",
        "### Previous Response Feedback",
        "**Detected:** Turn turn_1234 detected that Turn turn_1233 was rejected",
        "- Do NOT reuse the strategy from Turn turn_1233",
        "### Conversation Context",
        "### Session Preferences",
    ] {
        assert!(markdown(&sections).lines().any(|found| found == line), "{line}: {sections}");
    }
    for invalid in [json!("html"), json!(1)] {
        body["context_format"] = invalid;
        let (status, problem) = server.post("/api/v1/turns", &body);
        assert_eq!((status, &problem["field"]), (422, &json!("context_format")), "{problem}");
    }
}

#[test]
fn unclear_question_suggests_a_clarifying_question() {
    let server = Server::start();
    let include = json!({"include": ["context"]});
    let rows = [
        ("", Some("empty_message")),
        ("???", Some("empty_message")),
        ("jaguar", Some("ambiguous_word")),
        ("what about that one?", Some("unresolved_reference")),
        ("What is the capital of Peru?", None),
    ];
    let check = |server: &Server, n: usize, conversation: &str| {
        let (text, reason) = rows[n];
        let talk = TestConversation::new(server, conversation, conversation);
        let opened = talk.send(&format!("{conversation}-t{n}"), text, &include);
        let context = &opened["context"];
        assert_eq!(context["clarify_reason"], json!(reason), "{text}: {opened}");
        assert_eq!(context["suggest_clarify"], reason.is_some(), "{text}: {opened}");
        let decision = if reason.is_some() { "CLARIFY" } else { "PROCEED" };
        assert_eq!(context["decision"], decision, "{text}: {opened}");
        assert_eq!(markdown(&opened).contains("- Ask what the user"), reason.is_some(), "{opened}");
    };
    (0..rows.len()).for_each(|n| check(&server, n, &format!("c{n}")));
    let server = server.kill_and_restart();
    (0..rows.len()).for_each(|n| check(&server, n, &format!("after{n}")));
    // An earlier turn resolves the reference.
    let talk = TestConversation::new(&server, "c4", "c4");
    talk.answer("c4-t4", "It is Lima.");
    let opened = talk.send("t5", "what about that one?", &include);
    assert_eq!(opened["context"]["decision"], "PROCEED", "{opened}");
}
