//! Instructions from corrections that change the same.

use std::collections::{BTreeMap, BTreeSet};

use super::agreed::{Agreed, are_several};
use super::phrase::{what_to_do, what_to_do_about};
use super::sql::{Edit, Part, edits, statement_of};
use super::{PatternEvidence, SuggestionBasis};

/// Changes that turns agree on, those with most turns first. A change whose text repeats is told as
/// it is; where only the columns repeat, the columns are.
pub(super) fn from_corrections<'a>(evidence: &PatternEvidence<'a>) -> Vec<Agreed<'a>> {
    let changed: Vec<(&'a str, Vec<Edit>)> = evidence
        .corrections
        .iter()
        .filter_map(|one| {
            let (original, corrected) = (statement_of(one.original)?, statement_of(one.corrected)?);
            Some((one.turn_id, edits(original, corrected)))
        })
        .collect();
    let of = changed.iter().map(|(turn, _)| turn).collect::<BTreeSet<_>>().len();
    let mut exact: BTreeMap<&Edit, BTreeSet<&'a str>> = BTreeMap::new();
    let mut loose: BTreeMap<(Part, &str), BTreeMap<&'a str, &str>> = BTreeMap::new();
    for (turn, edits) in &changed {
        for edit in edits {
            exact.entry(edit).or_default().insert(turn);
            if let (Some(added), false) = (&edit.added, edit.about.is_empty()) {
                loose.entry((edit.part, &edit.about)).or_default().insert(turn, added);
            }
        }
    }
    let several = |turns: &BTreeSet<&str>| are_several(turns, &evidence.voices);
    exact.retain(|_, turns| several(turns));
    let mut agreed: Vec<(Part, Agreed<'a>)> = Vec::new();
    for (edit, turns) in &exact {
        let Some(what) = what_to_do(edit) else { continue };
        agreed.push((edit.part, told(what, turns.clone(), of)));
    }
    for ((part, about), turns) in &loose {
        let told_already = exact.keys().any(|edit| edit.part == *part && edit.about == *about);
        let example = turns.values().next().copied().unwrap_or_default();
        let of_turns: BTreeSet<&'a str> = turns.keys().copied().collect();
        let what = what_to_do_about(*part, about, example);
        if let (Some(what), false, true) = (what, told_already, several(&of_turns)) {
            agreed.push((*part, told(what, of_turns, of)));
        }
    }
    // Filters before what is shown: the order of `Part` is by how much a part changes the result.
    agreed.sort_by(|a, b| {
        let most = b.1.turns.len().cmp(&a.1.turns.len());
        most.then(a.0.cmp(&b.0)).then_with(|| a.1.what.cmp(&b.1.what))
    });
    agreed.into_iter().map(|(_, agreed)| agreed).collect()
}

fn told<'a>(what: String, turns: BTreeSet<&'a str>, of: usize) -> Agreed<'a> {
    Agreed { basis: SuggestionBasis::Corrections, what, turns, of }
}
