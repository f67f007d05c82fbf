//! Client of a running Uptake server, used by the command line.

use std::time::Duration;

use serde_json::Value;
use ureq::http::{Method, Request};

use crate::error::RemoteError;

const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// Address and credentials of an Uptake server.
#[derive(Clone)]
pub struct UptakeClient {
    url: String,
    token: String,
    tenant: Option<String>,
    project: Option<String>,
    agent: ureq::Agent,
}

impl std::fmt::Debug for UptakeClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningServer").field("url", &self.url).finish_non_exhaustive()
    }
}

impl UptakeClient {
    /// `token` is an API key or the token of the data folder; it may be empty.
    pub fn new(url: &str, token: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .build()
            .into();
        let url = url.trim_end_matches('/').to_owned();
        Self { url, token: token.to_owned(), tenant: None, project: None, agent }
    }

    /// A client for this tenant and project; `None` uses the defaults of the key.
    pub fn with_scope(&self, tenant: Option<&str>, project: Option<&str>) -> Self {
        let (tenant, project) = (tenant.map(str::to_owned), project.map(str::to_owned));
        Self { tenant, project, ..self.clone() }
    }

    pub fn get(&self, path: &str) -> Result<Value, RemoteError> {
        self.call(Method::GET, path, "")
    }

    /// Gets a response body without parsing it.
    pub fn get_text(&self, path: &str) -> Result<String, RemoteError> {
        self.send_request(Method::GET, path, "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Value, RemoteError> {
        self.call(Method::POST, path, &body.to_string())
    }

    pub fn delete(&self, path: &str) -> Result<Value, RemoteError> {
        self.call(Method::DELETE, path, "")
    }

    fn call(&self, method: Method, path: &str, body: &str) -> Result<Value, RemoteError> {
        parse_json(&self.send_request(method, path, body)?)
    }

    fn send_request(&self, method: Method, path: &str, body: &str) -> Result<String, RemoteError> {
        let unreachable =
            |cause| RemoteError::Unreachable { url: self.url.clone(), cause: Box::new(cause) };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("Content-Type", "application/json");
        let key = (!self.token.is_empty()).then(|| format!("Bearer {}", self.token));
        for (name, value) in [
            ("Authorization", &key),
            ("X-Uptake-Tenant", &self.tenant),
            ("X-Uptake-Project", &self.project),
        ] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let request = request.body(body.to_owned()).map_err(|error| unreachable(error.into()))?;
        let mut response = self.agent.run(request).map_err(unreachable)?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MAX_RESPONSE_BYTES);
        let text = body.read_to_string().map_err(unreachable)?;
        if (200..300).contains(&status) {
            return Ok(text);
        }
        let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        let detail =
            value["detail"].as_str().map_or_else(|| format!("status {status}"), str::to_owned);
        Err(RemoteError::Refused { status, detail })
    }
}

/// An empty body is null. Any other body that is not JSON comes from a different server.
fn parse_json(text: &str) -> Result<Value, RemoteError> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text)
        .map_err(|_| RemoteError::InvalidResponse("expected JSON; the URL is not an Uptake server"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn non_json_response_is_rejected() {
        assert_eq!(parse_json(r#"{"keys": []}"#).unwrap(), json!({"keys": []}));
        assert_eq!(parse_json("").unwrap(), Value::Null);
        let refused = parse_json("<html>Welcome</html>");
        assert!(matches!(refused, Err(RemoteError::InvalidResponse(_))), "{refused:?}");
    }
}
