//! Clients that retry every request until it is acknowledged, and record their progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::ensure;
use serde_json::{Value, json};

use crate::now;

/// Number of concurrent clients.
pub(crate) const SENDERS: usize = 8;
/// Events per batch.
pub(crate) const BATCH: usize = 20;
/// Rounds between two batches, and between two report reads.
const BATCH_EVERY: u64 = 5;
const READ_EVERY: u64 = 8;
/// Requests per round without batch and reports: turn, answer, rating, reaction, route.
const PER_ROUND: f64 = 5.0 + 1.0 / BATCH_EVERY as f64 + 2.0 / READ_EVERY as f64;
/// Turns per conversation.
const CONVERSATION: u64 = 6;

/// Pace of the senders.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    AsFastAsItGoes,
    /// Requests per second of all senders together.
    Rate(f64),
}

/// Requests and their outcomes.
pub(crate) struct Load {
    url: String,
    is_over: AtomicBool,
    requests: AtomicU64,
    repeated: AtomicU64,
    refused: AtomicU64,
    /// Rounds of each sender of which every write is acknowledged.
    rounds: [AtomicU64; SENDERS],
    unexpected: Mutex<Vec<String>>,
}

impl Load {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            is_over: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            rounds: Default::default(),
            unexpected: Mutex::default(),
        }
    }

    /// Creates what the load needs.
    pub(crate) fn prepare(&self) -> anyhow::Result<()> {
        let arms = json!({"arms": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "seed": 5});
        let set = agent().put(format!("{}/api/v1/routers/chat", self.url)).send_json(&arms)?;
        ensure!(set.status() == 200, "no router: {}", set.status());
        Ok(())
    }

    /// Sends while `something` runs; returns when every started round is acknowledged.
    pub(crate) fn during<T>(&self, pace: Pace, something: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            for sender in 0..SENDERS {
                scope.spawn(move || self.send(sender, pace));
            }
            let done = something();
            self.is_over.store(true, Ordering::Relaxed);
            done
        })
    }

    fn send(&self, sender: usize, pace: Pace) {
        let (agent, begun) = (agent(), now());
        for round in 0_u64.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            if let Pace::Rate(rate) = pace {
                let every = SENDERS as f64 * PER_ROUND / rate;
                let due = begun + Duration::from_secs_f64(every * round as f64);
                // After an outage the sender keeps its pace and does not catch up at once.
                std::thread::sleep(
                    due.saturating_duration_since(now()).min(Duration::from_secs(1)),
                );
            }
            self.one_round(&agent, sender, round);
            self.rounds[sender].store(round + 1, Ordering::Relaxed);
        }
    }

    fn one_round(&self, agent: &ureq::Agent, sender: usize, round: u64) {
        let turn = turn_id(sender, round);
        let conversation = format!("c-{sender}-{}", round / CONVERSATION);
        let text = match round % 4 {
            3 => "No, that is wrong, I meant the other one".to_owned(),
            _ => format!("What does order {} of customer {} cost?", round % 977, sender * 31),
        };
        let opened = self.insist(agent, "/api/v1/turns", None, &json!({"turn_id": turn, "text": text,
            "conversation_id": conversation, "user_id": conversation, "include": ["route", "context"],
            "router": "chat"}));
        let arm = opened["route"]["arm"].as_str().unwrap_or("a").to_owned();
        let answer =
            json!({"response": format!("It costs {round}."), "model": arm, "latency_ms": 700});
        self.insist(agent, &format!("/api/v1/turns/{turn}/complete"), None, &answer);
        self.insist(
            agent,
            "/api/v1/feedback",
            None,
            &json!({"id": rating_id(sender, round),
            "type": "explicit", "source": "user_rating", "category": "quality", "message_id": turn,
            "session_id": conversation, "user_id": "rater",
            "data": {"rating": if round.is_multiple_of(3) { "negative" } else { "positive" }}}),
        );
        let path = format!("/conversations/default/default/{conversation}/turns/{turn}/feedback");
        let key = format!("reaction-{turn}");
        let reaction = json!({"reaction": "ok", "user_id": "reacting", "text": "fine"});
        self.insist(agent, &path, Some(&key), &reaction);
        self.insist(agent, "/api/v1/route", None, &json!({"router": "chat", "text": text}));
        if round.is_multiple_of(BATCH_EVERY) {
            let events: Vec<Value> = (0..BATCH)
                .map(|n| {
                    json!({"id": batch_id(sender, round, n), "type": "metric",
                    "source": "system_metric", "category": "latency", "data": {"latency_ms": n}})
                })
                .collect();
            self.insist(agent, "/api/v1/feedback/batch", None, &Value::Array(events));
        }
        if round.is_multiple_of(READ_EVERY) {
            let period = "/conversations/default/default/feedback/conversations-in-period";
            self.insist(agent, period, None, &json!({"limit": 20}));
            let search = json!({"query": text, "include_rejected": true});
            self.insist(agent, "/api/v1/strategies/search", None, &search);
        }
    }

    /// Retries until the response is a success.
    fn insist(&self, agent: &ureq::Agent, path: &str, key: Option<&str>, body: &Value) -> Value {
        loop {
            let mut request = agent.post(format!("{}{path}", self.url));
            if let Some(key) = key {
                request = request.header("Idempotency-Key", key);
            }
            if let Ok(mut answer) = request.send_json(body) {
                let status = answer.status().as_u16();
                let body: Result<Value, _> = answer.body_mut().read_json();
                match (status, body) {
                    // A partly refused batch is sent again unchanged.
                    (200 | 201, Ok(body)) if body["rejected"].as_u64().unwrap_or(0) == 0 => {
                        self.requests.fetch_add(1, Ordering::Relaxed);
                        return body;
                    }
                    // The connection was cut, so the outcome is unknown.
                    (200 | 201, Err(_)) => {}
                    (200 | 201 | 207 | 429 | 503, _) => {
                        self.refused.fetch_add(1, Ordering::Relaxed);
                    }
                    (_, body) => {
                        let mut unexpected =
                            self.unexpected.lock().unwrap_or_else(PoisonError::into_inner);
                        unexpected.push(format!("{path} was answered {status}: {body:?}"));
                        return body.unwrap_or(Value::Null);
                    }
                }
            }
            self.repeated.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn repeated(&self) -> u64 {
        self.repeated.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Acknowledged turns, with all feedback on them.
    pub(crate) fn turns(&self) -> u64 {
        self.rounds.iter().map(|rounds| rounds.load(Ordering::Relaxed)).sum()
    }

    /// Responses with an unexpected status.
    pub(crate) fn unexpected(&self) -> Vec<String> {
        self.unexpected.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Every acknowledged round: sender and number.
    pub(crate) fn acknowledged(&self) -> impl Iterator<Item = (usize, u64)> {
        self.rounds.iter().enumerate().flat_map(|(sender, rounds)| {
            (0..rounds.load(Ordering::Relaxed)).map(move |round| (sender, round))
        })
    }
}

/// True when a round includes a batch.
pub(crate) fn has_batch(round: u64) -> bool {
    round.is_multiple_of(BATCH_EVERY)
}

pub(crate) fn turn_id(sender: usize, round: u64) -> String {
    format!("t-{sender}-{round}")
}

pub(crate) fn rating_id(sender: usize, round: u64) -> String {
    format!("r-{sender}-{round}")
}

pub(crate) fn batch_id(sender: usize, round: u64, n: usize) -> String {
    format!("b-{sender}-{round}-{n}")
}

/// A client with a keep-alive connection.
pub(crate) fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)));
    config.build().into()
}
