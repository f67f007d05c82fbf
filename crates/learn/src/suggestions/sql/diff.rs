//! The difference of two statements.

use std::collections::BTreeSet;

use super::facts::{Fact, Part, facts_of};
use super::parser::parsed;

/// One change: something was added, removed, or something else about the same was put in its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::suggestions) struct Edit {
    pub(in crate::suggestions) part: Part,
    pub(in crate::suggestions) removed: Option<String>,
    pub(in crate::suggestions) added: Option<String>,
    /// The columns or the table that it is about.
    pub(in crate::suggestions) about: String,
}

/// What was changed to make the second out of the first; nothing when one of them cannot be parsed: a
/// guess at what a broken statement means would teach nonsense.
pub(in crate::suggestions) fn edits(original: &str, corrected: &str) -> Vec<Edit> {
    let (Some(before), Some(after)) = (parsed(original), parsed(corrected)) else {
        return Vec::new();
    };
    let (before, after) = (facts_of(before), facts_of(after));
    let mut removed: Vec<&Fact> = before.difference(&after).collect();
    let mut edits = Vec::new();
    for added in after.difference(&before) {
        let same = |fact: &&Fact| fact.part == added.part && fact.about == added.about;
        // Several of a kind: which became which cannot be told.
        let only = removed.iter().filter(|fact| same(fact)).count() == 1
            && after.difference(&before).filter(same).count() == 1;
        let place = removed.iter().position(same).filter(|_| only);
        let old = place.map(|place| removed.remove(place).text.clone());
        edits.push(edit(added.part, old, Some(added.text.clone()), &added.about));
    }
    edits.extend(removed.iter().map(|f| edit(f.part, Some(f.text.clone()), None, &f.about)));
    without_echoes(edits)
}

fn edit(part: Part, removed: Option<String>, added: Option<String>, about: &str) -> Edit {
    Edit { part, removed, added, about: about.to_owned() }
}

/// A joined table is told as a join, not as a table too; what is computed by group changes with it.
fn without_echoes(edits: Vec<Edit>) -> Vec<Edit> {
    let joined: BTreeSet<String> =
        edits.iter().filter(|e| e.part == Part::Join).map(|e| e.about.clone()).collect();
    let echo = |edit: &Edit| {
        let table = edit.added.as_ref().or(edit.removed.as_ref());
        let both = edit.added.is_some() && edit.removed.is_some();
        edit.part == Part::Table && !both && table.is_some_and(|table| joined.contains(table))
    };
    edits.into_iter().filter(|edit| !echo(edit)).collect()
}
