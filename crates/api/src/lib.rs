//! The HTTP API. Translates between the wire and the engine, and nothing else.
//!
//! Never decides, never speaks to a database.

mod error;
mod request_id;
mod metrics;
mod scope;
mod limits;
mod origin;
mod body;
mod auth;
mod cors;
mod turnstile;
mod address;
mod slice;
mod wire;
mod routes;
mod openapi;
mod reference;
mod docs;
mod widget;
mod site;
mod router;
mod leaving;
mod patience;
mod connections;
mod server;
mod within;

pub use axum::Router;
pub use connections::ConnectionLimits;
pub use router::{Api, Settings};
pub use server::run;
pub use wire::feedback::event_line;
pub use within::ask;
