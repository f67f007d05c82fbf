//! Keeps events and state. The only crate that speaks to databases.
//!
//! Writes have one door, `Log::commit`; reads are narrow traits. Never validates, detects or learns.

#[cfg(test)]
mod contract;
mod error;
mod log;
mod read;
pub mod sqlite;

pub use error::StoreError;
pub use log::{Log, Task};
pub use read::events::{EventPage, EventReads, StoredEvent};

/// Everything a backend must offer.
pub trait Store: Log + EventReads {}

impl<T: Log + EventReads> Store for T {}
