//! Narrow read traits, one file each.

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
pub(crate) mod listed;
pub(crate) mod alerts;
pub(crate) mod experiments;
pub(crate) mod reactions;
pub(crate) mod decisions;
pub(crate) mod copies;
pub(crate) mod keys;
pub(crate) mod rules;
pub(crate) mod users;
pub(crate) mod retention;
pub(crate) mod dead_letters;
pub(crate) mod leases;
