//! Builds the clients of remote models from `[embed]` and `[llm]`.

use std::fs;
use std::time::Duration;

use anyhow::{Context, ensure};
use engine::{ChatClient, Embedder, RemoteEmbedder};

use crate::config::{EmbedSection, LlmSection};

/// The built-in model, or the configured remote one.
pub(crate) fn build_embedder(section: &EmbedSection) -> anyhow::Result<Embedder> {
    if section.url.is_empty() {
        return Ok(Embedder::default());
    }
    let key = check_and_read_key("embed", &section.url, &section.model, &section.key_file)?;
    let timeout = Duration::from_millis(section.timeout_ms);
    Ok(Embedder::with_remote(RemoteEmbedder::new(&section.url, &section.model, key, timeout)))
}

/// The remote model that drafts suggestions, if one is configured.
pub(crate) fn build_writer(section: &LlmSection) -> anyhow::Result<Option<ChatClient>> {
    if section.url.is_empty() {
        return Ok(None);
    }
    let key = check_and_read_key("llm", &section.url, &section.model, &section.key_file)?;
    let timeout = Duration::from_millis(section.timeout_ms);
    let LlmSection { url, model, max_tokens, .. } = section;
    Ok(Some(ChatClient::new(url, model, key, timeout, *max_tokens)))
}

/// Checks the URL and model name, and reads the API key.
fn check_and_read_key(
    section: &str,
    url: &str,
    model: &str,
    key_file: &str,
) -> anyhow::Result<Option<String>> {
    let known = url.starts_with("http://") || url.starts_with("https://");
    ensure!(known, "{section}.url is {url:?}, expected http://… or https://…");
    ensure!(!model.is_empty(), "{section}.model is empty, expected the remote model's name");
    let key = (!key_file.is_empty())
        .then(|| fs::read_to_string(key_file))
        .transpose()
        .with_context(|| format!("cannot read {section}.key_file {key_file}"))?;
    Ok(key.map(|key| key.trim().to_owned()))
}
