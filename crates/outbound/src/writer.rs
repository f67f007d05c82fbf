//! A model that writes, behind an API of the OpenAI kind: `POST …/chat/completions`.

use std::time::Duration;

use serde_json::json;

use crate::error::RemoteError;
use crate::openai::ModelApi;

/// Where it is, and what it may cost.
#[derive(Clone)]
pub struct RemoteWriter {
    api: ModelApi,
    model: String,
    max_tokens: u32,
}

impl std::fmt::Debug for RemoteWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteWriter").field("url", &self.api.url).finish_non_exhaustive()
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
        Self {
            api: ModelApi::new(url, "chat/completions", key, timeout),
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
        let body = json!({
            "model": self.model,
            "temperature": 0,
            "max_tokens": self.max_tokens,
            "messages": [{"role": "system", "content": rules}, {"role": "user", "content": data}],
        });
        let answer = self.api.post(&body)?;
        answer["choices"][0]["message"]["content"]
            .as_str()
            .map(str::to_owned)
            .ok_or(RemoteError::Unfit("expected choices[0].message.content"))
    }
}
