//! Whole-program behaviour: the real binary over HTTP, and the shape of the workspace.

#![expect(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod server;

mod bad_input;
mod durable;
mod events;
mod layers;
mod repeats;
mod start_and_stop;
