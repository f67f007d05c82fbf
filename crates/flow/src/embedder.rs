//! Where vectors come from: the built-in model, or a remote one with the built-in to fall back on.
//!
//! A vector says which model made it, so a fallback never compares with the remote's vectors.

use event::Vector;
use remote::RemoteEmbedder;

/// A source of vectors.
#[derive(Clone, Debug, Default)]
pub struct Embedder {
    remote: Option<RemoteEmbedder>,
}

impl Embedder {
    /// Asks this one first.
    pub fn with_remote(remote: RemoteEmbedder) -> Self {
        Self { remote: Some(remote) }
    }

    /// A vector for each text. When the remote one fails, all come from the built-in model: the
    /// answer to a user is not held up by somebody else's server.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vector> {
        if let Some(remote) = &self.remote {
            match remote.embed(texts) {
                Ok(vectors) => return vectors,
                Err(error) => {
                    let model = remote.model();
                    tracing::warn!(%error, %model, texts = texts.len(), "embedded by the built-in model instead");
                }
            }
        }
        texts.iter().map(|text| embed::built_in().embed(text)).collect()
    }

    /// Whether vectors come from elsewhere.
    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }
}
