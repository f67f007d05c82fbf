//! Where events come from besides HTTP.

mod chat;
mod file;

pub use chat::{ChatMessage, ChatRecord, Speaker, read_chat};
pub use file::{Line, read_line};
