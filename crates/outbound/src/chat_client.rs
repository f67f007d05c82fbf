//! Client of an OpenAI-compatible chat API: `POST …/chat/completions`.

use std::time::Duration;

use serde_json::json;

use crate::error::RemoteError;
use crate::model_api::ModelApi;

/// Connection to a chat model, with a limit on response tokens.
#[derive(Clone, Debug)]
pub struct ChatClient {
    api: ModelApi,
    model: String,
    max_tokens: u32,
}

impl ChatClient {
    /// `url` is the base URL, such as `http://127.0.0.1:11434/v1`. `max_tokens` limits each
    /// response.
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

    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the response text. `rules` is the system prompt; `data` is untrusted user content.
    pub fn complete_chat(&self, rules: &str, data: &str) -> Result<String, RemoteError> {
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
            .ok_or(RemoteError::InvalidResponse("expected choices[0].message.content"))
    }
}
