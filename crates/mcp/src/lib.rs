//! Tools with which agents give feedback while they work and use what was learnt, over the Model
//! Context Protocol.
//!
//! Every tool is a call or two of our own API, made through a [`Door`] with the caller's own key, so
//! that what holds there (keys, tenants, limits, repeats) holds here.

mod door;
mod arguments;
mod feedback;
mod schema;
mod tools;
mod server;

pub use door::{Call, Door, Refusal};
pub use server::{AgentService, Tools, over_http, over_stdio};
