//! What may serve as an example, in memory, project by project. Knows no store and no words: where
//! those are is all that is kept.

mod offer;
mod pool;
mod shelf;

pub(crate) use offer::{Offered, Place, of_correction, of_turn};
pub(crate) use pool::Pool;
pub(crate) use shelf::{ExampleShelf, ProjectExamples};
