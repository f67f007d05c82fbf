//! The result of reading a line of an import file.

use serde_json::{Map, Value};

const MAX_TAG_CHARS: usize = 200;

/// The content of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportLine {
    /// Lines in the format of `uptake export`. Empty for a conversation without messages.
    Events(Vec<Map<String, Value>>),
    /// A line that holds nothing to import, with the reason.
    Skipped(&'static str),
}

impl ImportLine {
    pub(super) fn events(lines: impl IntoIterator<Item = Value>) -> Self {
        let lines = lines.into_iter().filter_map(|line| match line {
            Value::Object(fields) => Some(fields),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => None,
        });
        Self::Events(lines.collect())
    }
}

/// The tag, shortened to the longest that an event may have.
pub(super) fn fit_tag(tag: &str) -> String {
    tag.chars().take(MAX_TAG_CHARS).collect()
}
