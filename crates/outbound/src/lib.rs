//! The only crate that calls out over HTTP: to a server of our own that is running, to an embedder, to a
//! model that writes, to webhooks.
//!
//! Never serves, never touches the store.

mod error;
mod openai;
mod running;
mod webhook;
mod writer;
mod embedder;

pub use embedder::RemoteEmbedder;
pub use error::RemoteError;
pub use running::RunningServer;
pub use webhook::Webhook;
pub use writer::RemoteWriter;
