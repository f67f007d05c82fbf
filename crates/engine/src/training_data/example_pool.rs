//! Pools of few-shot examples in memory, one per project. They hold locations in the store, not
//! texts.

mod candidate;
mod pool;
mod cache;

pub(crate) use cache::{ExamplePoolCache, ProjectPool};
pub(crate) use candidate::{
    ExampleCandidate, ExampleLocation, correction_candidate, turn_candidates,
};
pub(crate) use pool::IndexedPool;
