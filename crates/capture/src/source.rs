//! Where events come from besides HTTP.

mod chat;
mod chat_events;
mod file;

pub use chat::{ChatMessage, ChatRecord, Speaker, read_chat};
pub use chat_events::chat_events;
pub use file::{Line, read_line};
