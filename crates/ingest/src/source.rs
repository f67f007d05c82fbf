//! Event sources other than HTTP.

mod fields;
mod event_line;
mod chat;
mod chat_events;
mod score;
mod signs;
mod file;
mod artifact;
mod import_line;

pub(crate) use chat::{find_question, read_answer};
pub(crate) use fields::decode_json;

pub use chat::{ChatMessage, ChatRecord, ChatUsage, Speaker, read_chat};
pub use chat_events::{chat_events, conversation_name, name_turn, turn_name};
pub use event_line::ImportLine;
pub use file::{EVENT_FIELDS, Line, read_line};
pub use import_line::read_import_line;
pub use signs::Sign;
