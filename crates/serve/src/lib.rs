//! The HTTP API. Translates between the wire and the engine, and nothing else.
//!
//! Never decides, never speaks to a database.

mod body;
mod error;
mod request_id;
mod router;
mod routes;
mod scope;
mod server;
mod wire;

pub use router::{Limits, router};
pub use server::run;
