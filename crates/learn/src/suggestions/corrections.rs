//! Instructions from corrections that make the same change.

use std::collections::{BTreeMap, BTreeSet};

use super::consensus::{AgreedInstruction, AuthoredTurn, Support, has_two_authors};
use super::instruction_text::{describe_columns, describe_edit};
use super::sql::{ClauseKind, SqlEdit, diff_statements, extract_statement};
use super::{PatternEvidence, SuggestionBasis};

/// Finds changes that authors agree on, most supported first. Where only the columns agree, the
/// instruction names the columns.
pub(super) fn suggest_from_corrections<'a>(
    evidence: &PatternEvidence<'a>,
) -> Vec<AgreedInstruction<'a>> {
    let changed: Vec<(AuthoredTurn<'a>, Vec<SqlEdit>)> = evidence
        .corrections
        .iter()
        .filter_map(|one| {
            let (original, corrected) =
                (extract_statement(one.original)?, extract_statement(one.corrected)?);
            Some(((one.turn_id, one.author), diff_statements(original, corrected)))
        })
        .collect();
    let of = changed.iter().map(|(given, _)| given).collect::<BTreeSet<_>>().len();
    let mut exact: BTreeMap<&SqlEdit, Support<'a>> = BTreeMap::new();
    let mut loose: BTreeMap<(ClauseKind, &str), BTreeMap<AuthoredTurn<'a>, &str>> = BTreeMap::new();
    for (given, edits) in &changed {
        for edit in edits {
            exact.entry(edit).or_default().insert(*given);
            if let (Some(added), false) = (&edit.added, edit.about.is_empty()) {
                loose.entry((edit.part, &edit.about)).or_default().insert(*given, added);
            }
        }
    }
    exact.retain(|_, support| has_two_authors(support));
    let mut agreed: Vec<(ClauseKind, AgreedInstruction<'a>)> = Vec::new();
    for (edit, support) in &exact {
        let Some(what) = describe_edit(edit) else { continue };
        agreed.push((edit.part, agreed_correction(what, support.clone(), of)));
    }
    for ((part, about), given) in &loose {
        let told_already = exact.keys().any(|edit| edit.part == *part && edit.about == *about);
        let example = given.values().next().copied().unwrap_or_default();
        let support: Support<'a> = given.keys().copied().collect();
        let what = describe_columns(*part, about, example);
        if let (Some(what), false, true) = (what, told_already, has_two_authors(&support)) {
            agreed.push((*part, agreed_correction(what, support, of)));
        }
    }
    // `ClauseKind` is ordered by how much a clause changes the result: filters before columns.
    agreed.sort_by(|a, b| {
        let most = b.1.support.len().cmp(&a.1.support.len());
        most.then(a.0.cmp(&b.0)).then_with(|| a.1.instruction.cmp(&b.1.instruction))
    });
    agreed.into_iter().map(|(_, agreed)| agreed).collect()
}

fn agreed_correction<'a>(what: String, support: Support<'a>, of: usize) -> AgreedInstruction<'a> {
    AgreedInstruction { basis: SuggestionBasis::Corrections, instruction: what, support, total: of }
}
