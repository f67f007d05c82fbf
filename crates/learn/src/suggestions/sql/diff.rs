//! The difference between two statements.

use std::collections::BTreeSet;

use super::facts::{ClauseKind, SqlFact, extract_facts};
use super::parser::parse_statements;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::suggestions) struct SqlEdit {
    pub(in crate::suggestions) part: ClauseKind,
    pub(in crate::suggestions) removed: Option<String>,
    pub(in crate::suggestions) added: Option<String>,
    pub(in crate::suggestions) about: String,
}

/// Returns the edits from `original` to `corrected`; empty when one of them cannot be parsed.
pub(in crate::suggestions) fn diff_statements(original: &str, corrected: &str) -> Vec<SqlEdit> {
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
        edits.push(new_edit(added.part, old, Some(added.text.clone()), &added.about));
    }
    edits.extend(removed.iter().map(|f| new_edit(f.part, Some(f.text.clone()), None, &f.about)));
    drop_join_tables(edits)
}

fn new_edit(
    part: ClauseKind,
    removed: Option<String>,
    added: Option<String>,
    about: &str,
) -> SqlEdit {
    SqlEdit { part, removed, added, about: about.to_owned() }
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
