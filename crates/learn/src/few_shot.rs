//! Few-shot examples: which answered questions may serve as one, and which few are shown.
//!
//! A pool decides what is a good answer to each question and keeps no words and no vectors. An
//! index of vectors, kept by the caller in step with the pool, finds the questions near a query;
//! [`select`] picks the few among them.

mod pool;
mod tokens;
mod selection;

pub use pool::{Best, Effect, ExamplePool, ExampleSource, Offer};
pub use selection::{NearQuestion, SIMILARITY_FLOOR, Selected, Selection, WITHIN, select};
pub use tokens::estimated_tokens;

#[cfg(test)]
mod tests;
