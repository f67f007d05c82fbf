//! Connections to systems beside the database: Redis, Kafka, S3 and folders of documents.
//!
//! The log is the source of truth. Data that a connector loses can be restored from it.

mod error;
mod event_sink;
mod event_source;
mod blob_store;
mod query_history;
#[cfg(feature = "scaled")]
pub mod kafka;
#[cfg(feature = "scaled")]
pub mod redis;
#[cfg(feature = "scaled")]
mod s3;

pub use blob_store::{BlobStore, FolderBlobStore};
pub use error::{ConnectorError, ConnectorFuture};
pub use event_sink::{EventSink, OutgoingMessage, RejectedMessage};
pub use event_source::{EventSource, ReceivedMessage};
pub use query_history::{
    HistoryHealth, HistoryKey, InProcessHistory, QueryHistory, RecentQuestion,
};
#[cfg(feature = "scaled")]
pub use s3::{S3BlobStore, S3Settings};
