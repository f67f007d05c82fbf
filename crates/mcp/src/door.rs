//! How the tools reach the API.

use http::HeaderMap;
use serde_json::Value;

/// Something to post to the API.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Where.
    pub path: &'static str,
    /// What.
    pub body: Value,
}

/// Why the API did not do it, in words for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// What was wrong and what to do.
    pub detail: String,
}

/// The way to the API.
pub trait Door: Send + Sync + 'static {
    /// Makes the call for whoever sent `headers`; over stdio there are none.
    fn call(
        &self,
        headers: Option<&HeaderMap>,
        call: Call,
    ) -> impl Future<Output = Result<Value, Refusal>> + Send;
}
