//! The index of similar turns: in memory, kept in step with the database by the writer.
//!
//! Whenever a commit touches the index of turns or a vector, the writer puts the turn as it is now
//! into memory before it answers, so that the very next request finds it. At start a thread reads
//! everything in, beside requests.

mod entry;
mod indexes;
mod loader;
mod touched;

use model::{Scope, UserId, Vector};

pub(crate) use entry::{intent_hash, short as short_user};
pub(crate) use indexes::SimilarityIndexes;
pub(crate) use loader::Loader;
pub(crate) use touched::Touched;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct SimilarQuery {
    pub scope: Scope,
    pub vector: Vector,
    /// At most so many of each status.
    pub most: usize,
    /// None less similar than this.
    pub floor: f32,
    /// Only this user's.
    pub user: Option<UserId>,
    /// Only of this intent.
    pub intent: Option<String>,
}
