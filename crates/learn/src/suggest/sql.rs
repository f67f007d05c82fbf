//! What a correction changed in a statement: parts that were added, removed or exchanged.
//!
//! Both statements are parsed and taken apart into facts (`facts.rs`); the difference of the two
//! sets is what was corrected. What no dialect parses says nothing.

mod parse;
mod tidy;
mod render;
mod facts;
mod edit;

pub(super) use edit::{Edit, edits};
pub(super) use facts::Part;
pub(super) use parse::statement_of;

#[cfg(test)]
mod tests;
