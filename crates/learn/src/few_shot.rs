//! Few-shot examples: the pool of answers that may serve as examples, and the selection for a
//! query.
//!
//! The pool keeps the best answer per question, without texts or vectors. The caller keeps a vector
//! index in step with the pool. The index finds questions near a query; [`select_examples`] picks
//! among them.

mod pool;
mod selection;

pub use pool::{ExampleOffer, ExamplePool, ExampleSource, IndexChange};
pub use selection::{
    ExampleQuery, MAX_NEAR_QUESTIONS, NearQuestion, SIMILARITY_FLOOR, SelectedExample,
    estimate_tokens, select_examples,
};

#[cfg(test)]
mod tests;
