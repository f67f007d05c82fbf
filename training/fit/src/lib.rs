//! Trains the detector models from the corpus and measures them.
//!
//! Used for training and by the benchmarks; not part of the product.

pub mod train;
pub mod metrics;
pub mod pairs;
pub mod refusals;
pub mod restatements;
pub mod derived;
pub mod dialogues;
pub mod verdicts;
pub mod readings;
