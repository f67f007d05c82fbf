//! How the tools for agents reach the API.

use http::HeaderMap;
use mcp::{Call, Door, Refusal};
use serde_json::Value;

/// Inside this program, as whoever sent the request.
pub(super) struct Within(pub(super) api::Router);

impl Door for Within {
    async fn call(&self, headers: Option<&HeaderMap>, call: Call) -> Result<Value, Refusal> {
        let nobody = HeaderMap::new();
        api::post_loopback(&self.0, headers.unwrap_or(&nobody), call.path, &call.body)
            .await
            .map_err(|(status, detail)| Refusal { status: Some(status), detail })
    }
}
