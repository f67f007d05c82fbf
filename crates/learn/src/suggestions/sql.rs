//! Finds the clauses that a correction added, removed or replaced in an SQL statement.
//!
//! Both statements are parsed and decomposed into facts (`facts.rs`). The difference of the two
//! sets is the correction. A statement that no dialect parses yields nothing.

mod parser;
mod normalisation;
mod facts;

use std::collections::BTreeSet;

use facts::{SqlFact, extract_facts};
use parser::parse_statements;

pub(super) use facts::ClauseKind;
pub(super) use parser::extract_statement;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SqlEdit {
    pub(super) part: ClauseKind,
    pub(super) removed: Option<String>,
    pub(super) added: Option<String>,
    pub(super) about: String,
}

/// Returns the edits between the SQL of two answers; `None` when one of them has none.
pub(super) fn diff_answers(original: &str, corrected: &str) -> Option<Vec<SqlEdit>> {
    Some(diff_statements(extract_statement(original)?, extract_statement(corrected)?))
}

/// Returns the tables that the SQL of an answer reads; empty without a parsable statement.
pub(super) fn list_tables(answer: &str) -> BTreeSet<String> {
    let statements = extract_statement(answer).and_then(parse_statements);
    let facts = statements.map(extract_facts).unwrap_or_default();
    let tables = facts.into_iter().filter(|fact| fact.part == ClauseKind::Table);
    tables.map(|fact| fact.text).collect()
}

/// Returns the edits from `original` to `corrected`; empty when one of them cannot be parsed.
fn diff_statements(original: &str, corrected: &str) -> Vec<SqlEdit> {
    let (Some(before), Some(after)) = (parse_statements(original), parse_statements(corrected))
    else {
        return Vec::new();
    };
    let (before, after) = (extract_facts(before), extract_facts(after));
    let mut removed: Vec<&SqlFact> = before.difference(&after).collect();
    let mut edits = Vec::new();
    for added in after.difference(&before) {
        let same = |fact: &&SqlFact| fact.part == added.part && fact.about == added.about;
        // With several facts of a kind, the replaced one is ambiguous.
        let only = removed.iter().filter(|fact| same(fact)).count() == 1
            && after.difference(&before).filter(same).count() == 1;
        let place = removed.iter().position(same).filter(|_| only);
        let old = place.map(|place| removed.remove(place).text.clone());
        edits.push(new_edit(added, old, Some(added.text.clone())));
    }
    edits.extend(removed.into_iter().map(|fact| new_edit(fact, Some(fact.text.clone()), None)));
    drop_join_tables(edits)
}

fn new_edit(fact: &SqlFact, removed: Option<String>, added: Option<String>) -> SqlEdit {
    SqlEdit { part: fact.part, removed, added, about: fact.about.clone() }
}

/// A joined table is listed as a join only, not also as a table.
fn drop_join_tables(edits: Vec<SqlEdit>) -> Vec<SqlEdit> {
    let joined: BTreeSet<String> =
        edits.iter().filter(|e| e.part == ClauseKind::Join).map(|e| e.about.clone()).collect();
    let echo = |edit: &SqlEdit| {
        let table = edit.added.as_ref().or(edit.removed.as_ref());
        let both = edit.added.is_some() && edit.removed.is_some();
        edit.part == ClauseKind::Table && !both && table.is_some_and(|table| joined.contains(table))
    };
    edits.into_iter().filter(|edit| !echo(edit)).collect()
}

#[cfg(test)]
mod tests;
