//! Arguments of a tool call.

use serde_json::{Map, Value};

/// The arguments of one tool call. The remaining ones are sent to the API unchanged; the API
/// reports unknown fields.
#[derive(Debug)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(crate) fn new(given: Option<Map<String, Value>>) -> Self {
        let mut given = given.unwrap_or_default();
        // Language models often send null for omitted arguments.
        given.retain(|_, value| !value.is_null());
        Self(given)
    }

    /// Removes and returns an argument.
    pub(crate) fn take_value(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Returns an argument without removing it; null when it is missing.
    pub(crate) fn copy_value(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// The remaining arguments with one more field, as a request body.
    pub(crate) fn into_body_with(mut self, name: &str, value: impl Into<Value>) -> Value {
        self.0.insert(name.to_owned(), value.into());
        Value::Object(self.0)
    }

    /// The remaining arguments as a request body.
    pub(crate) fn into_body(self) -> Value {
        Value::Object(self.0)
    }

    pub(crate) fn remaining_names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}
