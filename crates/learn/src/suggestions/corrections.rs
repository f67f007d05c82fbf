//! Instructions from corrections that change the same.

use std::collections::{BTreeMap, BTreeSet};

use super::consensus::{Agreed, Given, Support, is_shared};
use super::instruction_text::{what_to_do, what_to_do_about};
use super::sql::{Edit, Part, edits, statement_of};
use super::{PatternEvidence, SuggestionBasis};

/// Changes that people agree on, those of most first. A change whose text repeats is told as
/// it is; where only the columns repeat, the columns are.
pub(super) fn from_corrections<'a>(evidence: &PatternEvidence<'a>) -> Vec<Agreed<'a>> {
    let changed: Vec<(Given<'a>, Vec<Edit>)> = evidence
        .corrections
        .iter()
        .filter_map(|one| {
            let (original, corrected) = (statement_of(one.original)?, statement_of(one.corrected)?);
            Some(((one.turn_id, one.by), edits(original, corrected)))
        })
        .collect();
    let of = changed.iter().map(|(given, _)| given).collect::<BTreeSet<_>>().len();
    let mut exact: BTreeMap<&Edit, Support<'a>> = BTreeMap::new();
    let mut loose: BTreeMap<(Part, &str), BTreeMap<Given<'a>, &str>> = BTreeMap::new();
    for (given, edits) in &changed {
        for edit in edits {
            exact.entry(edit).or_default().insert(*given);
            if let (Some(added), false) = (&edit.added, edit.about.is_empty()) {
                loose.entry((edit.part, &edit.about)).or_default().insert(*given, added);
            }
        }
    }
    exact.retain(|_, support| is_shared(support));
    let mut agreed: Vec<(Part, Agreed<'a>)> = Vec::new();
    for (edit, support) in &exact {
        let Some(what) = what_to_do(edit) else { continue };
        agreed.push((edit.part, told(what, support.clone(), of)));
    }
    for ((part, about), given) in &loose {
        let told_already = exact.keys().any(|edit| edit.part == *part && edit.about == *about);
        let example = given.values().next().copied().unwrap_or_default();
        let support: Support<'a> = given.keys().copied().collect();
        let what = what_to_do_about(*part, about, example);
        if let (Some(what), false, true) = (what, told_already, is_shared(&support)) {
            agreed.push((*part, told(what, support, of)));
        }
    }
    // Filters before what is shown: the order of `Part` is by how much a part changes the result.
    agreed.sort_by(|a, b| {
        let most = b.1.support.len().cmp(&a.1.support.len());
        most.then(a.0.cmp(&b.0)).then_with(|| a.1.what.cmp(&b.1.what))
    });
    agreed.into_iter().map(|(_, agreed)| agreed).collect()
}

fn told<'a>(what: String, support: Support<'a>, of: usize) -> Agreed<'a> {
    Agreed { basis: SuggestionBasis::Corrections, what, support, of }
}
