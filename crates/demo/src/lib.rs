//! Generates a month of made-up conversations, so that a new store has data to show.
//!
//! ```text
//! people, start times --> conversations: messages, replies, gestures
//!                           --> engine calls, in order of simulated time
//! ```
//!
//! Everything except the time depends on one seed. The engine derives all findings, metrics and
//! patterns itself. This crate does not access the store.

mod data;
mod rng;
mod schedule;
mod people;
mod phrasing;
mod topics;
mod models;
mod client;
mod experiments;
mod conversation;
mod timeline;
mod actions;
mod load;

pub use load::{DEFAULT_CONVERSATIONS, DemoSummary, demo_start, load_demo};
pub use timeline::DemoClock;
