//! What a correction changed in a statement: parts that were added, removed or exchanged.
//!
//! Both statements are parsed and taken apart into facts (`facts.rs`); the difference of the two
//! sets is what was corrected. What no dialect parses says nothing.

mod parser;
mod normalisation;
mod rendering;
mod facts;
mod diff;

pub(super) use diff::{Edit, edits};
pub(super) use facts::Part;
pub(super) use parser::statement_of;

#[cfg(test)]
mod tests;
