//! Request and response bodies: the public contract. Their doc comments become OpenAPI descriptions.

pub(crate) mod time;
pub(crate) mod csv;
pub(crate) mod list;
pub(crate) mod warning;
pub(crate) mod turn_feedback;
pub(crate) mod feedback;
pub(crate) mod verdict;
pub(crate) mod strategy;
pub(crate) mod routing;
pub(crate) mod experiment;
pub(crate) mod retrieval;
pub(crate) mod turn;
pub(crate) mod reaction;
pub(crate) mod decision;
pub(crate) mod tenant;
pub(crate) mod operations;
pub(crate) mod quality;
pub(crate) mod failure;
pub(crate) mod comment;
pub(crate) mod report;
#[cfg(test)]
mod fuzz_tests;
