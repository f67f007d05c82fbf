//! A server of our own, called by a command on the same machine.

use std::time::Duration;

use serde_json::Value;
use ureq::http::{Method, Request, Response};

use crate::error::RemoteError;

/// The largest answer that is read.
const MOST_BYTES: u64 = 64 << 20;

/// Where it is and how it knows us.
#[derive(Clone)]
pub struct RunningServer {
    url: String,
    token: String,
    tenant: Option<String>,
    project: Option<String>,
    agent: ureq::Agent,
}

impl std::fmt::Debug for RunningServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningServer").field("url", &self.url).finish_non_exhaustive()
    }
}

impl RunningServer {
    /// A server at this address that takes this token or key.
    pub fn new(url: &str, token: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .build()
            .into();
        let url = url.trim_end_matches('/').to_owned();
        Self { url, token: token.to_owned(), tenant: None, project: None, agent }
    }

    /// The same server, asked about this tenant and project; the key's own where none is named.
    pub fn about(&self, tenant: Option<&str>, project: Option<&str>) -> Self {
        let (tenant, project) = (tenant.map(str::to_owned), project.map(str::to_owned));
        Self { tenant, project, ..self.clone() }
    }

    /// Asks it something.
    pub fn get(&self, path: &str) -> Result<Value, RemoteError> {
        self.call(Method::GET, path, "")
    }

    /// Asks it for a page of ours, as it is.
    pub fn page(&self, path: &str) -> Result<String, RemoteError> {
        self.send(Method::GET, path, "")
    }

    /// Tells it something.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, RemoteError> {
        self.call(Method::POST, path, &body.to_string())
    }

    /// Takes something away.
    pub fn delete(&self, path: &str) -> Result<Value, RemoteError> {
        self.call(Method::DELETE, path, "")
    }

    fn call(&self, method: Method, path: &str, body: &str) -> Result<Value, RemoteError> {
        json_in(&self.send(method, path, body)?)
    }

    fn send(&self, method: Method, path: &str, body: &str) -> Result<String, RemoteError> {
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
        let response = self.agent.run(request).map_err(unreachable)?;
        read(response).map_err(|error| match error {
            Read::Failed(cause) => unreachable(cause),
            Read::Refused(refused) => refused,
        })
    }
}

/// An empty answer says nothing; anything else that is no JSON is not ours.
fn json_in(text: &str) -> Result<Value, RemoteError> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text)
        .map_err(|_| RemoteError::Unfit("expected JSON; whoever answers there is no Uptake server"))
}

enum Read {
    Failed(ureq::Error),
    Refused(RemoteError),
}

fn read(mut response: Response<ureq::Body>) -> Result<String, Read> {
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(MOST_BYTES);
    let text = body.read_to_string().map_err(Read::Failed)?;
    if (200..300).contains(&status) {
        return Ok(text);
    }
    let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let detail = value["detail"].as_str().map_or_else(|| format!("status {status}"), str::to_owned);
    Err(Read::Refused(RemoteError::Refused { status, detail }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_of_somebody_elses_is_not_taken_for_an_empty_answer() {
        assert_eq!(json_in(r#"{"keys": []}"#).unwrap(), json!({"keys": []}));
        assert_eq!(json_in("").unwrap(), Value::Null);
        let refused = json_in("<html>Welcome</html>");
        assert!(matches!(refused, Err(RemoteError::Unfit(_))), "{refused:?}");
    }
}
