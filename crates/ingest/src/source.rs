//! Event sources other than HTTP.

mod chat;
mod chat_events;
mod signs;
mod file;

pub use chat::{ChatMessage, ChatRecord, Speaker, read_chat};
pub use chat_events::{chat_events, conversation_name, name_turn, turn_name};
pub use file::{Line, read_line};
pub use signs::Sign;
