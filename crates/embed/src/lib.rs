//! Text embeddings with the built-in static model: the mean of token vectors from a table.
//!
//! Pure and deterministic. `training/embed` builds the table.

mod fold;
mod wordpiece;
mod table;

pub use table::{StaticModel, built_in};
