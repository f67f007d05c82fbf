//! Models elsewhere, from the configuration.

use std::fs;
use std::time::Duration;

use anyhow::{Context, ensure};
use engine::{ChatClient, Embedder, RemoteEmbedder};

use crate::config::{EmbedSection, LlmSection};

/// The built-in model, or the remote one that the configuration names.
pub(crate) fn embedder(section: &EmbedSection) -> anyhow::Result<Embedder> {
    if section.url.is_empty() {
        return Ok(Embedder::default());
    }
    let key = access("embed", &section.url, &section.model, &section.key_file)?;
    let timeout = Duration::from_millis(section.timeout_ms);
    Ok(Embedder::with_remote(RemoteEmbedder::new(&section.url, &section.model, key, timeout)))
}

/// The model that drafts suggestions, if one is configured.
pub(crate) fn writer(section: &LlmSection) -> anyhow::Result<Option<ChatClient>> {
    if section.url.is_empty() {
        return Ok(None);
    }
    let key = access("llm", &section.url, &section.model, &section.key_file)?;
    let timeout = Duration::from_millis(section.timeout_ms);
    let LlmSection { url, model, max_tokens, .. } = section;
    Ok(Some(ChatClient::new(url, model, key, timeout, *max_tokens)))
}

/// Checks where a model is, and reads its key.
fn access(section: &str, url: &str, model: &str, key_file: &str) -> anyhow::Result<Option<String>> {
    let known = url.starts_with("http://") || url.starts_with("https://");
    ensure!(known, "{section}.url is {url:?}, expected http://… or https://…");
    ensure!(!model.is_empty(), "{section}.model is empty, expected the remote model's name");
    let key = (!key_file.is_empty())
        .then(|| fs::read_to_string(key_file))
        .transpose()
        .with_context(|| format!("cannot read {section}.key_file {key_file}"))?;
    Ok(key.map(|key| key.trim().to_owned()))
}
