//! Projections: tables computed from the log.

pub(crate) mod apply;
pub(crate) mod baseline;
pub(crate) mod counters;
pub(crate) mod moments;
pub(crate) mod rebuild;
pub(crate) mod word_index;
