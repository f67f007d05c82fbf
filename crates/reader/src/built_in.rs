//! The model in the binary.

#[cfg(feature = "model")]
use std::sync::{LazyLock, OnceLock};

#[cfg(feature = "model")]
use model::hash::Fnv32;

use crate::encoder::Reader;
#[cfg(feature = "model")]
use crate::model_file::parse_model;

/// Built by training/reader.
#[cfg(feature = "model")]
static MODEL: &[u8] = include_bytes!("../model/reader.bin");

/// The built-in reader, parsed at first use; `None` in builds without the feature `model`.
#[cfg(feature = "model")]
pub fn built_in() -> Option<&'static Reader> {
    static READER: OnceLock<Reader> = OnceLock::new();
    Some(READER.get_or_init(|| parse_model(MODEL)))
}

/// The built-in reader; `None` in this build, which lacks the feature `model`.
#[cfg(not(feature = "model"))]
pub fn built_in() -> Option<&'static Reader> {
    None
}

/// Identifies the model: a hash of its last bytes, which any training changes.
#[cfg(feature = "model")]
pub fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let end = &MODEL[MODEL.len() - VERSIONED_BYTES..];
        format!("{:08x}", Fnv32::default().add_bytes(end).0)
    });
    &VERSION
}

#[cfg(not(feature = "model"))]
pub fn version() -> &'static str {
    "none"
}

#[cfg(feature = "model")]
const VERSIONED_BYTES: usize = 8_192;
