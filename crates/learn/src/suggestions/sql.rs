//! Finds the clauses that a correction added, removed or replaced in an SQL statement.
//!
//! Both statements are parsed and decomposed into facts (`facts.rs`). The difference of the two
//! sets is the correction. A statement that no dialect parses yields nothing.

mod parser;
mod normalisation;
mod rendering;
mod facts;
mod diff;

pub(super) use diff::{SqlEdit, diff_statements};
pub(super) use facts::ClauseKind;
pub(super) use parser::extract_statement;

#[cfg(test)]
mod tests;
