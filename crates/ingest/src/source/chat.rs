//! Chat logs of other systems: messages with speaker and time.

mod langfuse;
mod langsmith;
mod message;
mod read;

use model::Timestamp;

use super::signs::Sign;

pub(super) use langfuse::is_child_observation;
pub(super) use langsmith::{is_child_run, is_run};
pub(crate) use message::{find_question, read_answer};
pub use read::read_chat;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    User,
    Assistant,
    /// A system prompt or a tool.
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChatMessage {
    pub speaker: Speaker,
    pub text: String,
    pub at: Option<Timestamp>,
    /// The turn's id in the log.
    pub turn: Option<String>,
    /// The model of an answer.
    pub model: Option<String>,
    /// The application's error of an answer.
    pub error: Option<String>,
    /// The latency of an answer.
    pub latency_seconds: Option<f64>,
    /// Tokens and cost of an answer.
    pub usage: ChatUsage,
    /// Feedback on an answer.
    pub signs: Vec<Sign>,
}

/// Token counts and cost of an answer; `None` means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChatUsage {
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    pub cost: Option<f64>,
}

impl ChatMessage {
    fn new(speaker: Speaker, text: String, at: Option<Timestamp>) -> Self {
        let (turn, model, error, latency_seconds) = (None, None, None, None);
        let usage = ChatUsage::default();
        Self { speaker, text, at, turn, model, error, latency_seconds, usage, signs: Vec::new() }
    }
}

/// A whole conversation, or one turn of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRecord {
    pub conversation: Option<String>,
    pub user: Option<String>,
    pub messages: Vec<ChatMessage>,
    /// Feedback on turns named by the log, in order.
    pub remarks: Vec<(String, Sign)>,
    /// True when later records may continue the conversation.
    pub is_turn: bool,
}

impl ChatRecord {
    /// Questions with their answers. Consecutive messages are joined. An answer goes to the
    /// question of its turn where the log names it. Unanswered questions stand alone.
    pub fn exchanges(&self) -> Vec<(ChatMessage, Option<ChatMessage>)> {
        let mut all: Vec<(ChatMessage, Option<ChatMessage>)> = Vec::new();
        for message in &self.messages {
            match message.speaker {
                Speaker::User => add_question(&mut all, message),
                Speaker::Assistant => add_answer(&mut all, message),
                Speaker::Other => {}
            }
        }
        for (turn, sign) in &self.remarks {
            let named = all.iter_mut().rfind(|(asked, _)| asked.turn.as_ref() == Some(turn));
            if let Some((_, Some(answered))) = named {
                answered.signs.push(sign.clone());
            }
        }
        all
    }
}

fn add_question(all: &mut Vec<(ChatMessage, Option<ChatMessage>)>, message: &ChatMessage) {
    match all.last_mut() {
        Some((asked, None)) if asked.turn == message.turn => {
            join_text(&mut asked.text, &message.text)
        }
        Some(_) | None => all.push((message.clone(), None)),
    }
}

fn add_answer(all: &mut [(ChatMessage, Option<ChatMessage>)], message: &ChatMessage) {
    let named = message
        .turn
        .as_ref()
        .and_then(|turn| all.iter().rposition(|(asked, _)| asked.turn.as_ref() == Some(turn)));
    let Some(at) = named.or_else(|| all.len().checked_sub(1)) else { return };
    match &mut all[at].1 {
        Some(answered) => {
            join_text(&mut answered.text, &message.text);
            answered.at = message.at.or(answered.at);
            answered.signs.extend(message.signs.iter().cloned());
        }
        none => *none = Some(message.clone()),
    }
}

fn join_text(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}
