//! Chat logs as others write them: what was said, by whom, when.

mod own;
mod read;

use model::Timestamp;

use super::signs::Sign;

pub use read::read_chat;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The application.
    Assistant,
    /// A system prompt or a tool.
    Other,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatMessage {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
    /// When, if the log says so.
    pub at: Option<Timestamp>,
    /// The turn's own name, where the log has one.
    pub turn: Option<String>,
    /// Who made it, for an answer.
    pub model: Option<String>,
    /// What the application says went wrong, for an answer.
    pub error: Option<String>,
    /// How long it took, for an answer.
    pub latency_seconds: Option<f64>,
    /// What was said and done about it, for an answer.
    pub signs: Vec<Sign>,
}

impl ChatMessage {
    fn new(speaker: Speaker, text: String, at: Option<Timestamp>) -> Self {
        let (turn, model, error, latency_seconds) = (None, None, None, None);
        Self { speaker, text, at, turn, model, error, latency_seconds, signs: Vec::new() }
    }
}

/// A record of a log: a whole conversation, or one turn of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRecord {
    /// The conversation's name, if it has one.
    pub conversation: Option<String>,
    /// The user's name, if given.
    pub user: Option<String>,
    /// What was said, in order.
    pub messages: Vec<ChatMessage>,
    /// What was said and done about the answers of turns that the log names, in order.
    pub remarks: Vec<(String, Sign)>,
    /// Only a part of the conversation: the next record may go on with it.
    pub is_turn: bool,
}

impl ChatRecord {
    /// What the user said and what came back. Several messages in a row are one; an answer goes to
    /// the question of its turn where the log names it; what nobody answered stands alone.
    pub fn exchanges(&self) -> Vec<(ChatMessage, Option<ChatMessage>)> {
        let mut all: Vec<(ChatMessage, Option<ChatMessage>)> = Vec::new();
        for message in &self.messages {
            match message.speaker {
                Speaker::User => ask(&mut all, message),
                Speaker::Assistant => answer(&mut all, message),
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

fn ask(all: &mut Vec<(ChatMessage, Option<ChatMessage>)>, message: &ChatMessage) {
    match all.last_mut() {
        Some((asked, None)) if asked.turn == message.turn => join(&mut asked.text, &message.text),
        Some(_) | None => all.push((message.clone(), None)),
    }
}

fn answer(all: &mut [(ChatMessage, Option<ChatMessage>)], message: &ChatMessage) {
    let named = message
        .turn
        .as_ref()
        .and_then(|turn| all.iter().rposition(|(asked, _)| asked.turn.as_ref() == Some(turn)));
    let Some(at) = named.or_else(|| all.len().checked_sub(1)) else { return };
    match &mut all[at].1 {
        Some(answered) => {
            join(&mut answered.text, &message.text);
            answered.at = message.at.or(answered.at);
            answered.signs.extend(message.signs.iter().cloned());
        }
        none => *none = Some(message.clone()),
    }
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}
