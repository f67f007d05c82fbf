//! The data flow, in files that read top to bottom. Start reading in `record.rs`.
//!
//! Joins the steps; decides nothing that a step could decide. Knows no HTTP.

mod engine;
mod error;
mod lookup;
mod mint;
mod record;

pub use capture::{CaptureError, RawEvent};
pub use engine::Engine;
pub use error::FlowError;
pub use lookup::Stretch;
pub use record::{Incoming, Receipt};
pub use store::{EventPage, StoredEvent};
