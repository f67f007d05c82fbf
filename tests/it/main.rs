//! Whole-program behaviour: the real binary over HTTP, and the shape of the workspace.

#![expect(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod engine;
mod server;
mod reports;
mod talk;

mod alerts;
mod artifacts;
mod bad_input;
mod calibration;
mod commands;
mod comments;
mod conversation_loop;
mod decisions;
mod deploy;
mod durable;
mod erasure;
mod events;
mod failures;
mod experiments;
mod examples;
mod full_disk;
#[cfg(feature = "scaled")]
mod history;
mod isolation;
#[cfg(feature = "scaled")]
mod kafka;
mod keys;
mod layers;
mod mcp;
mod metrics;
#[cfg(feature = "scaled")]
mod migrate_store;
mod openapi;
mod period;
mod preferences;
mod privacy;
mod quality;
mod reactions;
mod redetect;
mod remote_embedder;
mod repeats;
mod retrieval;
mod routing;
mod scan;
#[cfg(feature = "scaled")]
mod s3;
mod sessions;
mod start_and_stop;
mod strategies;
mod topics;
mod turn_log;
mod turns;
