//! How the tools for agents reach the API.

use http::HeaderMap;
use mcp::{ApiCall, ApiClient, ApiError};
use serde_json::Value;

/// Inside this program, as whoever sent the request.
pub(super) struct Within(pub(super) api::Router);

impl ApiClient for Within {
    async fn post(&self, headers: Option<&HeaderMap>, call: ApiCall) -> Result<Value, ApiError> {
        let nobody = HeaderMap::new();
        api::post_loopback(&self.0, headers.unwrap_or(&nobody), call.path, &call.body)
            .await
            .map_err(|(status, detail)| ApiError { status: Some(status), detail })
    }
}
