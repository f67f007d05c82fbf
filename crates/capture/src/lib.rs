//! Takes events in and makes them fit to keep: checks, normalises, fingerprints.
//!
//! Never detects, never learns, never answers HTTP.

mod accept;
mod fingerprint;

pub use accept::{CaptureError, RawEvent, accept};
pub use fingerprint::{Fingerprint, SealKey};
