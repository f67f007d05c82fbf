//! Connects the MCP tools at `/mcp` with the API of the same process.

use http::HeaderMap;
use mcp::{Call, Door, Refusal};
use serde_json::Value;

/// Calls the API router with the headers, and so the rights, of the MCP request.
pub(super) struct InProcessApi(pub(super) api::Router);

impl Door for InProcessApi {
    async fn call(&self, headers: Option<&HeaderMap>, call: Call) -> Result<Value, Refusal> {
        let no_headers = HeaderMap::new();
        api::ask(&self.0, headers.unwrap_or(&no_headers), call.path, &call.body)
            .await
            .map_err(|(status, detail)| Refusal { status: Some(status), detail })
    }
}
