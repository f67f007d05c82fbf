//! Instructions from corrections that make the same change.

use std::collections::{BTreeMap, BTreeSet};

use super::consensus::{AgreedInstruction, AuthoredTurn, Support, has_two_authors};
use super::instruction_text::{describe_columns, describe_edit};
use super::sql::{ClauseKind, SqlEdit, diff_statements, extract_statement};
use super::{PatternEvidence, SuggestionBasis};

/// Changes that authors agree on, most supported first; only the columns where values differ.
pub(super) fn suggest_from_corrections<'a>(
    evidence: &PatternEvidence<'a>,
) -> Vec<AgreedInstruction<'a>> {
    let changed: Vec<(AuthoredTurn<'a>, Vec<SqlEdit>)> = evidence
        .corrections
        .iter()
        .filter_map(|correction| {
            let (original, corrected) =
                (extract_statement(correction.original)?, extract_statement(correction.corrected)?);
            Some(((correction.turn_id, correction.author), diff_statements(original, corrected)))
        })
        .collect();
    let total = changed.iter().map(|(authored, _)| authored).collect::<BTreeSet<_>>().len();
    let mut exact: BTreeMap<&SqlEdit, Support<'a>> = BTreeMap::new();
    let mut loose: BTreeMap<(ClauseKind, &str), BTreeMap<AuthoredTurn<'a>, &str>> = BTreeMap::new();
    for (authored, edits) in &changed {
        for edit in edits {
            exact.entry(edit).or_default().insert(*authored);
            if let (Some(added), false) = (&edit.added, edit.about.is_empty()) {
                loose.entry((edit.part, &edit.about)).or_default().insert(*authored, added);
            }
        }
    }
    exact.retain(|_, support| has_two_authors(support));
    let mut agreed: Vec<(ClauseKind, AgreedInstruction<'a>)> = Vec::new();
    for (edit, support) in &exact {
        let Some(instruction) = describe_edit(edit) else { continue };
        agreed.push((edit.part, agreed_correction(instruction, support.clone(), total)));
    }
    for ((part, about), authored) in &loose {
        let is_exact = exact.keys().any(|edit| edit.part == *part && edit.about == *about);
        let example = authored.values().next().copied().unwrap_or_default();
        let support: Support<'a> = authored.keys().copied().collect();
        let instruction = describe_columns(*part, about, example);
        if let (Some(instruction), false, true) = (instruction, is_exact, has_two_authors(&support))
        {
            agreed.push((*part, agreed_correction(instruction, support, total)));
        }
    }
    // `ClauseKind` is ordered by how much a clause changes the result: filters before columns.
    agreed.sort_by(|a, b| {
        let by_support = b.1.support.len().cmp(&a.1.support.len());
        by_support.then(a.0.cmp(&b.0)).then_with(|| a.1.instruction.cmp(&b.1.instruction))
    });
    agreed.into_iter().map(|(_, agreed)| agreed).collect()
}

fn agreed_correction<'a>(
    instruction: String,
    support: Support<'a>,
    total: usize,
) -> AgreedInstruction<'a> {
    AgreedInstruction { basis: SuggestionBasis::Corrections, instruction, support, total }
}
