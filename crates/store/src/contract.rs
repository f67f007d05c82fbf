//! The tests every backend must pass. A backend's own test calls each function with a fresh store.

pub(crate) mod events;
pub(crate) mod log;
