//! Text to vectors with the built-in static model: a table of tokens, a mean, nothing else.
//!
//! Pure and deterministic: no I/O, no clock, no threads. `training/embed` makes the table.

mod fold;
mod wordpiece;
mod table;

pub use table::{StaticModel, built_in};
