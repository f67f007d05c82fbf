//! Experiments as they stand, and those of them that are in memory.

mod kept;
mod view;

pub(crate) use kept::KeptViews;
pub use view::ExperimentView;
