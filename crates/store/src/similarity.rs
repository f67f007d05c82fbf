//! The in-memory index of similar turns.
//!
//! Before the writer answers a commit, it updates the index for every turn the commit touched, so
//! the next request finds the turn. At start a thread loads all turns while requests are served.

mod entry;
mod indexes;
mod loader;
mod touched;

use model::{Scope, UserId, Vector};

pub(crate) use entry::{intent_hash, short as short_user};
pub(crate) use indexes::SimilarityIndexes;
pub use indexes::SimilarityLimits;
pub(crate) use loader::spawn_loader;
pub(crate) use touched::Touched;

#[derive(Clone, Debug)]
pub struct SimilarQuery {
    pub scope: Scope,
    pub vector: Vector,
    /// Maximum results per status.
    pub most: usize,
    /// Minimum cosine similarity.
    pub floor: f32,
    pub user: Option<UserId>,
    pub intent: Option<String>,
}
