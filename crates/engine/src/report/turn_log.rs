//! The turn log: all events of one turn as one document.
//!
//! Reactions that the user withdrew or replaced are left out, including their text.

use std::collections::HashSet;
use std::fmt::Write;

use model::{Body, Finding, Position, Reaction, Timestamp, TurnHalf};
use serde_json::{Map, Value, json};
use store::{StoredEvent, StoredReaction, StoredTurn};

use crate::report::item::FeedbackItem;

#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    pub ts: Timestamp,
    /// `user`, `assistant`, `reaction`, `reaction_cleared`, `comment` and so on.
    pub kind: &'static str,
    pub event_id: String,
    pub text: Option<String>,
    pub reaction: Option<Reaction>,
    pub data: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TurnLog {
    pub entries: Vec<LogEntry>,
    pub feedbacks: Vec<FeedbackItem>,
    /// Everything as plain text, for reading and search.
    pub text: String,
}

impl TurnLog {
    /// The document as shown and copied.
    pub fn to_json(&self) -> Value {
        let entry = |entry: &LogEntry| {
            json!({"ts": entry.ts, "kind": entry.kind, "event_id": entry.event_id,
                "text": entry.text, "data": entry.data})
        };
        let entries: Vec<Value> = self.entries.iter().map(entry).collect();
        let feedbacks: Vec<Value> = self.feedbacks.iter().map(FeedbackItem::to_json).collect();
        json!({"entries": entries, "feedbacks": feedbacks, "text": self.text})
    }
}

/// Builds the log of a turn from its events and active reactions.
pub fn turn_log(turn: &StoredTurn, reactions: &[StoredReaction]) -> TurnLog {
    let active: HashSet<Position> = reactions.iter().map(|reaction| reaction.position).collect();
    let entries: Vec<LogEntry> =
        turn.events.iter().filter_map(|e| build_entry(e, &active)).collect();
    let scope = turn.events.first().map(|stored| stored.event.scope.clone()).unwrap_or_default();
    let feedbacks =
        reactions.iter().map(|reaction| FeedbackItem::new(&scope, reaction.clone())).collect();
    let text = render_text(turn, &entries);
    TurnLog { entries, feedbacks, text }
}

fn build_entry(stored: &StoredEvent, active: &HashSet<Position>) -> Option<LogEntry> {
    let event = &stored.event;
    let line = |kind, text: Option<String>, hidden: &[&str]| {
        let mut data = event.body.to_fields();
        data.retain(|name, _| !hidden.contains(&name.as_str()));
        let event_id = event.id.to_string();
        LogEntry { ts: event.ts, kind, event_id, text, reaction: None, data }
    };
    let entry = match &event.body {
        Body::Turn(TurnHalf::Opened(opening)) => {
            line("user", Some(opening.text.clone()), &["text", "phase"])
        }
        Body::Turn(TurnHalf::Completed(done)) => {
            line("assistant", done.response.clone(), &["response", "phase"])
        }
        Body::Reaction(given) if given.reaction.is_none() => {
            LogEntry { data: Map::new(), ..line("reaction_cleared", None, &[]) }
        }
        Body::Reaction(_) | Body::Rating(_) if !active.contains(&stored.position) => return None,
        Body::Reaction(given) => {
            let reaction = given.reaction;
            LogEntry { reaction, ..line("reaction", given.text.clone(), &["text"]) }
        }
        Body::Rating(sent) => {
            let mut entry = line("reaction", sent.comment.clone(), &["comment"]);
            let reaction = sent.rating.reaction();
            entry.data.insert("reaction".into(), reaction.as_word().into());
            entry.reaction = Some(reaction);
            entry
        }
        Body::Comment(sent) => {
            let text = Some(sent.text.clone()).filter(|text| !text.is_empty());
            line("comment", text, &["comment"])
        }
        Body::Correction(sent) => line("correction", Some(sent.corrected.clone()), &["corrected"]),
        Body::Interaction(_) => line("interaction", None, &[]),
        Body::Metric(_) => line("metric", None, &[]),
        Body::Decision(_) | Body::Settlement(_) => line("decision", None, &[]),
        Body::Finding(Finding::Verdict(found)) => {
            line("verdict", found.verdict.user_said.clone(), &["user_said", "finding"])
        }
        Body::Finding(finding) => {
            line(finding_name(finding)?, None, &["finding", "features", "shadow", "cluster"])
        }
        Body::Rule(_) | Body::Other(_) => line("event", None, &[]),
        Body::Spans(_) | Body::Unreadable(_) => return None,
    };
    Some(entry)
}

/// The log's name for a finding. `None` for records of Uptake that readers do not need.
fn finding_name(finding: &Finding) -> Option<&'static str> {
    match finding {
        Finding::Verdict(_) => Some("verdict"),
        Finding::Retry(_) => Some("retry"),
        Finding::Answer(_) => Some("signals"),
        Finding::Review { .. } => Some("review"),
        Finding::Session(_) => Some("session_end"),
        Finding::Choice(_) => Some("route"),
        Finding::Served { .. } => Some("served"),
        Finding::Suggestion(_) => Some("suggestion"),
        Finding::Sentiment(_) => Some("sentiment"),
        Finding::Alert(_) => Some("alert"),
        Finding::Exposure(_) => Some("exposure"),
        Finding::Reward(_) => Some("reward"),
        Finding::Relevance(_) => Some("relevance"),
        Finding::Returned(_) => Some("returned"),
        Finding::PendingUsage(_) => Some("pending_usage"),
        Finding::Vector { .. } | Finding::Trace(_) => None,
    }
}

fn render_text(turn: &StoredTurn, entries: &[LogEntry]) -> String {
    let mut text = format!("[turn.log] {}", turn.head.turn);
    for entry in entries {
        let said = entry.text.as_deref().unwrap_or("");
        let label = entry.reaction.map_or("", Reaction::as_word);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[{}] {} {label}", entry.ts, entry.kind);
        if !said.is_empty() {
            let _ = write!(text, ": {said}");
        }
    }
    text
}
