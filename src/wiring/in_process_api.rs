//! Connects the MCP tools at `/mcp` with the API of the same process.

use http::HeaderMap;
use mcp::{ApiCall, ApiClient, ApiError};
use serde_json::Value;

/// Calls the API router with the headers, and so the rights, of the MCP request.
pub(super) struct InProcessApi(pub(super) api::Router);

impl ApiClient for InProcessApi {
    async fn post(&self, headers: Option<&HeaderMap>, call: ApiCall) -> Result<Value, ApiError> {
        let no_headers = HeaderMap::new();
        api::post_loopback(&self.0, headers.unwrap_or(&no_headers), call.path, &call.body)
            .await
            .map_err(|(status, detail)| ApiError { status: Some(status), detail })
    }
}
