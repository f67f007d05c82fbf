//! The tests every backend must pass. A backend's own test calls each function with a fresh store.

mod scene;

pub(crate) mod log;
pub(crate) mod needs;
pub(crate) mod events;
pub(crate) mod turns;
pub(crate) mod exchanges;
pub(crate) mod sessions;
pub(crate) mod labels;
pub(crate) mod similar;
pub(crate) mod judged;
pub(crate) mod routing;
pub(crate) mod relevance;
pub(crate) mod quality;
pub(crate) mod alerts;
pub(crate) mod experiments;
pub(crate) mod reactions;
pub(crate) mod period;
pub(crate) mod decisions;
pub(crate) mod copies;
pub(crate) mod rebuild;
pub(crate) mod keys;
