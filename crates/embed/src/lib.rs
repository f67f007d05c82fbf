//! Text embeddings with the built-in static model: the mean of token vectors from a table.
//!
//! Pure and deterministic. `training/embed` builds the table.

mod tokenizer;
mod static_model;

pub use static_model::{StaticModel, Token, built_in};
