//! Shared client of OpenAI-compatible APIs.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;

use crate::error::RemoteError;

/// One endpoint with its credentials.
#[derive(Clone)]
pub(crate) struct ModelApi {
    agent: Agent,
    pub(crate) url: String,
    key: Option<String>,
}

/// Omits the API key.
impl std::fmt::Debug for ModelApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelApi").field("url", &self.url).finish_non_exhaustive()
    }
}

impl ModelApi {
    /// `base` is the base URL of the API and `call` the endpoint below it.
    pub(crate) fn new(base: &str, call: &str, key: Option<String>, timeout: Duration) -> Self {
        let settings = Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .build();
        let url = format!("{}/{call}", base.trim_end_matches('/'));
        Self { agent: settings.into(), url, key }
    }

    /// Posts JSON and returns the JSON response. A status other than 2xx is an error.
    pub(crate) fn post(&self, body: &Value) -> Result<Value, RemoteError> {
        let mut request = self.agent.post(&self.url);
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let unreachable =
            |cause| RemoteError::Unreachable { url: self.url.clone(), cause: Box::new(cause) };
        let mut response = request.send_json(body).map_err(unreachable)?;
        let status = response.status().as_u16();
        if !(200..300).contains(&status) {
            let detail = format!("{} returned status {status}", self.url);
            return Err(RemoteError::Refused { status, detail });
        }
        let read = response.body_mut().read_json();
        if matches!(read, Err(ureq::Error::Json(_))) {
            return Err(RemoteError::InvalidResponse("expected JSON"));
        }
        read.map_err(unreachable)
    }
}
