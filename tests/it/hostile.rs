//! Hostile and broken clients do not affect others.

mod connections;
mod forwarded;
mod framing;
mod logs;
mod fuzzed_bodies;
mod origins;
