//! A model that writes, behind an API of the OpenAI kind: `POST …/chat/completions`.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;

use crate::error::RemoteError;

/// Where it is, and what it may cost.
#[derive(Clone)]
pub struct RemoteWriter {
    agent: Agent,
    url: String,
    key: Option<String>,
    model: String,
    max_tokens: u32,
}

impl std::fmt::Debug for RemoteWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteWriter").field("url", &self.url).finish_non_exhaustive()
    }
}

impl RemoteWriter {
    /// `url` is the base of the API, such as `http://127.0.0.1:11434/v1`; no answer is longer than
    /// `max_tokens`.
    pub fn new(
        url: &str,
        model: &str,
        key: Option<String>,
        timeout: Duration,
        max_tokens: u32,
    ) -> Self {
        let settings = Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .build();
        Self {
            agent: settings.into(),
            url: format!("{}/chat/completions", url.trim_end_matches('/')),
            key,
            model: model.to_owned(),
            max_tokens,
        }
    }

    /// Its name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The text of its answer. `rules` are ours, `data` is everybody's.
    pub fn write(&self, rules: &str, data: &str) -> Result<String, RemoteError> {
        let mut request = self.agent.post(&self.url);
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let body = json!({
            "model": self.model,
            "temperature": 0,
            "max_tokens": self.max_tokens,
            "messages": [{"role": "system", "content": rules}, {"role": "user", "content": data}],
        });
        let unreachable =
            |cause| RemoteError::Unreachable { url: self.url.clone(), cause: Box::new(cause) };
        let mut response = request.send_json(&body).map_err(unreachable)?;
        let status = response.status().as_u16();
        if !(200..300).contains(&status) {
            let detail = format!("{} answered with status {status}", self.url);
            return Err(RemoteError::Refused { status, detail });
        }
        let answer: Value = response.body_mut().read_json().map_err(unreachable)?;
        answer["choices"][0]["message"]["content"]
            .as_str()
            .map(str::to_owned)
            .ok_or(RemoteError::Unfit("expected choices[0].message.content"))
    }
}
