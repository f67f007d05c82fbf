//! Blocking sessions with Postgres.
//!
//! The calling thread drives the socket on a runtime of its own while it waits, so a query costs
//! one wake-up and no other thread. Statements without a result are queued and sent with the next
//! query.

mod keys;
mod memory;
mod merged_rows;
mod pending;
mod session;
mod value;

pub(crate) use session::Prepared;
pub use session::{Question, Session};
pub(super) use value::value;
