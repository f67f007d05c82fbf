//! The source of vectors from the configuration.

use std::fs;
use std::time::Duration;

use anyhow::{Context, ensure};
use flow::{Embedder, RemoteEmbedder};

use crate::config::EmbedSection;

/// The built-in model, or the remote one that the configuration names.
pub(crate) fn embedder(section: &EmbedSection) -> anyhow::Result<Embedder> {
    if section.url.is_empty() {
        return Ok(Embedder::default());
    }
    let known = section.url.starts_with("http://") || section.url.starts_with("https://");
    ensure!(known, "embed.url is {:?}, expected http://… or https://…", section.url);
    ensure!(!section.model.is_empty(), "embed.model is empty, expected the remote model's name");
    let key = (!section.key_file.is_empty())
        .then(|| fs::read_to_string(&section.key_file))
        .transpose()
        .with_context(|| format!("cannot read embed.key_file {}", section.key_file))?;
    let key = key.map(|key| key.trim().to_owned());
    let timeout = Duration::from_millis(section.timeout_ms);
    Ok(Embedder::with_remote(RemoteEmbedder::new(&section.url, &section.model, key, timeout)))
}
