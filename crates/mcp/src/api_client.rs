//! The client through which the tools call the API.

use http::HeaderMap;
use serde_json::Value;

/// A POST request to the API.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiCall {
    pub path: &'static str,
    pub body: Value,
}

/// An error response of the API, or a failure to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub status: Option<u16>,
    pub detail: String,
}

/// Calls the API on behalf of an MCP client.
pub trait ApiClient: Send + Sync + 'static {
    /// Posts the call with the credentials in `headers`. Stdio clients have no headers.
    fn post(
        &self,
        headers: Option<&HeaderMap>,
        call: ApiCall,
    ) -> impl Future<Output = Result<Value, ApiError>> + Send;
}
