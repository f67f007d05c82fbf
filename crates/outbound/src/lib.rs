//! Outbound HTTP: a running Uptake server, embedding models, chat models and webhooks.
//!
//! All HTTP requests are made here, except those of `connectors` to S3. It does not serve HTTP or access the store.

mod error;
mod model_api;
mod api_client;
mod public_resolver;
mod webhook;
mod chat_client;
mod embedder;

pub use api_client::UptakeClient;
pub use chat_client::ChatClient;
pub use embedder::RemoteEmbedder;
pub use error::RemoteError;
pub use webhook::Webhook;
