//! One file per resource.

pub(crate) mod batch;
pub(crate) mod events;
pub(crate) mod feedback;
pub(crate) mod health;
