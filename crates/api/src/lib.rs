//! The HTTP API. Translates between the wire and the engine, and nothing else.
//!
//! This crate takes no decisions and never accesses a database.

mod alias_decoder;
mod body;
mod error;
mod unpack;
mod loopback_client;
mod middleware;
mod openapi;
mod params;
mod reference;
mod report_filter;
mod router;
mod routes;
mod scope;
mod server;
mod site;
mod widget;
mod wire;

pub use axum::Router;
pub use loopback_client::post_loopback;
pub use middleware::client_address::TrustedProxies;
pub use middleware::connections::ConnectionLimits;
pub use router::{Api, Settings};
pub use server::run;
pub use wire::feedback::event_line;
