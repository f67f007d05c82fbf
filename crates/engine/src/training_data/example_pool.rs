//! What may serve as an example, in memory, project by project. Knows no store and no words: where
//! those are is all that is kept.

mod candidate;
mod pool;
mod cache;

pub(crate) use cache::{ExamplePoolCache, ProjectPool};
pub(crate) use candidate::{
    ExampleCandidate, ExampleLocation, correction_candidate, turn_candidates,
};
pub(crate) use pool::IndexedPool;
