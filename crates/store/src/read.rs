//! Narrow read traits, one file each.

pub(crate) mod events;
