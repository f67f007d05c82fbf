//! What a tool was given.

use serde_json::{Map, Value};

/// The arguments of one call of a tool. Those taken out are handled; the rest goes to the API as it
/// is, which names what it does not know.
#[derive(Debug)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(crate) fn new(given: Option<Map<String, Value>>) -> Self {
        let mut given = given.unwrap_or_default();
        // Models like to send null for what they leave out.
        given.retain(|_, value| !value.is_null());
        Self(given)
    }

    /// One of them, out of the rest.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// One of them, left where it is.
    pub(crate) fn copy(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// Everything left, with one more.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Value {
        self.0.insert(name.to_owned(), value.into());
        Value::Object(self.0)
    }

    /// Everything left.
    pub(crate) fn rest(self) -> Value {
        Value::Object(self.0)
    }

    /// The names of what is left.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}
