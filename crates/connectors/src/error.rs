//! Connector errors, divided by what the caller can do.

use std::path::PathBuf;
use std::pin::Pin;

/// A boxed future, because the implementation of a connector is chosen at run time.
pub type ConnectorFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, ConnectorError>> + Send + 'a>>;

#[derive(Debug, thiserror::Error)]
pub enum ConnectorError {
    #[error("the connection is in use by another call; retry")]
    Busy,
    /// The other system does not answer or refuses the call. Retry later.
    #[error("{0}")]
    Unavailable(String),
    #[error("the connection is closed")]
    Closed,
    #[error("unreadable document: {0}")]
    Corrupt(String),
    #[error("cannot use {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
}
