//! Trains the detector models from the corpus and measures them.
//!
//! Used for training and by the benchmarks; not part of the product.
#![expect(missing_docs, reason = "a tool of ours, not an interface")]

pub mod train;
pub mod measure;
pub mod pairs;
pub mod refusals;
pub mod verdicts;
