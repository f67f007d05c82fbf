//! The only crate that calls out over HTTP: so far, to a server of our own that is running.
//!
//! Never serves, never touches the store.

mod error;
mod running;

pub use error::RemoteError;
pub use running::RunningServer;
