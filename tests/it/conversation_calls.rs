//! Calls of the tests about conversations.

use serde_json::{Value, json};

use crate::server::Server;

/// A conversation of one user with an application.
pub(crate) struct TestConversation<'a> {
    pub(crate) server: &'a Server,
    pub(crate) conversation: &'a str,
    pub(crate) user: &'a str,
}

impl<'a> TestConversation<'a> {
    pub(crate) fn new(server: &'a Server, conversation: &'a str, user: &'a str) -> Self {
        Self { server, conversation, user }
    }

    /// Sends a message and returns the response of Uptake, with the context in fixed sections.
    pub(crate) fn send_message(&self, turn: &str, text: &str) -> Value {
        let include = json!(["context", "strategies"]);
        self.send(turn, text, &json!({"include": include, "context_format": "sections"}))
    }

    /// Sends a message at a past time, in seconds from the start of a fixed day.
    pub(crate) fn send_message_at(&self, turn: &str, text: &str, secs: u32) -> Value {
        self.send(turn, text, &json!({"ts": past_time(secs)}))
    }

    pub(crate) fn send(&self, turn: &str, text: &str, more: &Value) -> Value {
        let mut body = json!({"conversation_id": self.conversation, "user_id": self.user,
            "turn_id": turn, "text": text});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let (status, answer) = self.server.post("/api/v1/turns", &body);
        assert_eq!(status, 201, "{answer}");
        answer
    }

    pub(crate) fn answer(&self, turn: &str, response: &str) -> Value {
        self.complete(turn, &json!({"response": response}))
    }

    pub(crate) fn complete(&self, turn: &str, body: &Value) -> Value {
        let path = format!("/api/v1/turns/{turn}/complete");
        let (status, answer) = self.server.post(&path, body);
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Completes the turn with an answer, a strategy and a query.
    pub(crate) fn answer_with_query(&self, turn: &str, response: &str, query: &str) -> Value {
        let body = json!({"response": response, "validation_outcome": "APPROVE",
            "quality_score": 0.85,
            "strategy": {"name": "commerce_search", "params": {"query": query}}});
        self.complete(turn, &body)
    }
}

/// A past time, in seconds from the start of a fixed day.
pub(crate) fn past_time(secs: u32) -> String {
    format!("2026-01-05T{:02}:{:02}:{:02}Z", secs / 3600, secs / 60 % 60, secs % 60)
}

/// Verdict status and confidence of a turn.
pub(crate) fn read_verdict(server: &Server, turn: &str) -> (String, f64) {
    let (code, shown) = server.get(&format!("/api/v1/turns/{turn}/metadata"));
    assert_eq!(code, 200, "{shown}");
    let feedback = &shown["user_feedback"];
    let status = feedback["status"].as_str().unwrap().to_owned();
    (status, feedback["confidence"].as_f64().unwrap())
}

/// The turns that a strategy search returns, in order.
pub(crate) fn search_strategies(server: &Server, body: &Value) -> Vec<String> {
    let (status, found) = server.post("/api/v1/strategies/search", body);
    assert_eq!(status, 200, "{found}");
    turn_ids(&found["strategies"])
}

pub(crate) fn turn_ids(turns: &Value) -> Vec<String> {
    let turns = turns.as_array().unwrap();
    turns.iter().map(|turn| turn["turn_id"].as_str().unwrap().to_owned()).collect()
}
