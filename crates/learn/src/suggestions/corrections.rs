//! Instructions from corrections that make the same change, described in words, and summaries of
//! corrections without an explanation.

use std::collections::{BTreeMap, BTreeSet};

use super::consensus::{AgreedInstruction, AuthoredTurn, Support, has_two_authors};
use super::sanitisation::{contains_sentence, sanitise_sql};
use super::sql::{ClauseKind, SqlEdit, diff_answers, extract_statement, list_tables};
use super::{PatternEvidence, SuggestionBasis};
use crate::failures::{AnswerChange, extract_content_words, extract_signed_terms};

/// Changes that authors agree on, most supported first; only the columns where values differ.
pub(super) fn suggest_from_corrections<'a>(
    evidence: &PatternEvidence<'a>,
) -> Vec<AgreedInstruction<'a>> {
    let mut tables: BTreeMap<AuthoredTurn<'a>, BTreeSet<String>> = BTreeMap::new();
    for one in &evidence.corrections {
        tables.insert((one.turn_id, one.author), list_tables(one.corrected));
    }
    let changed: Vec<(AuthoredTurn<'a>, Vec<SqlEdit>)> = evidence
        .corrections
        .iter()
        .filter_map(|correction| {
            let edits = diff_answers(correction.original, correction.corrected)?;
            Some(((correction.turn_id, correction.author), edits))
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
    let basis = SuggestionBasis::Corrections;
    let mut agreed: Vec<(ClauseKind, AgreedInstruction<'a>)> = Vec::new();
    let mut add = |(part, what): (ClauseKind, &str), text: Option<String>, support: Support<'a>| {
        let all = support.iter().filter_map(|authored| tables.get(authored));
        let shared = if part.names_table() { BTreeSet::new() } else { intersect_all(all) };
        let idea = extract_signed_terms(what);
        let new = text.and_then(|text| AgreedInstruction::new(basis, (text, idea), support, total));
        agreed.extend(new.map(|agreed| (part, AgreedInstruction { tables: shared, ..agreed })));
    };
    for (edit, support) in &exact {
        let what = edit.added.as_deref().or(edit.removed.as_deref()).unwrap_or_default();
        add((edit.part, what), describe_edit(edit), support.clone());
    }
    for ((part, about), authored) in &loose {
        if !exact.keys().any(|edit| edit.part == *part && edit.about == *about) {
            let example = authored.values().next().copied().unwrap_or_default();
            let instruction = describe_columns(*part, about, example);
            add((*part, about), instruction, authored.keys().copied().collect());
        }
    }
    // `ClauseKind` is ordered by how much a clause changes the result: filters before columns.
    agreed.sort_by(|a, b| {
        let by_support = b.1.support.len().cmp(&a.1.support.len());
        by_support.then(a.0.cmp(&b.0)).then_with(|| a.1.instruction.cmp(&b.1.instruction))
    });
    agreed.into_iter().map(|(_, agreed)| agreed).collect()
}

fn intersect_all<'s>(mut sets: impl Iterator<Item = &'s BTreeSet<String>>) -> BTreeSet<String> {
    let first = sets.next().cloned().unwrap_or_default();
    sets.fold(first, |shared, set| shared.intersection(set).cloned().collect())
}

/// The text after "When the question is about …,"; `None` when it cannot be quoted.
pub(super) fn describe_edit(edit: &SqlEdit) -> Option<String> {
    let safe = |text: &Option<String>| text.as_deref().map(sanitise_sql);
    match (safe(&edit.removed), safe(&edit.added)) {
        (None, Some(Some(added))) => Some(describe_added(edit.part, &added)),
        (Some(Some(removed)), None) => Some(describe_removed(edit.part, &removed)),
        (Some(Some(removed)), Some(Some(added))) => {
            Some(describe_replaced(edit.part, &removed, &added))
        }
        // The SQL is too long to quote.
        (Some(None), _) | (_, Some(None)) | (None, None) => None,
    }
}

/// For edits that share their columns but not their values.
pub(super) fn describe_columns(part: ClauseKind, columns: &str, example: &str) -> Option<String> {
    let (columns, example) = (sanitise_sql(columns)?, sanitise_sql(example)?);
    let filters = part == ClauseKind::Filter || part == ClauseKind::Having;
    filters.then(|| format!("add the condition on {columns} that it implies, as in {example}"))
}

fn describe_added(part: ClauseKind, added: &str) -> String {
    match part {
        ClauseKind::Filter => format!("filter {added} unless asked otherwise"),
        ClauseKind::Having => format!("keep only groups with {added} unless asked otherwise"),
        ClauseKind::Table => format!("use the table {added}"),
        ClauseKind::Join => format!("add {added}"),
        ClauseKind::Aggregate => format!("compute {added}"),
        ClauseKind::Distinct => format!("leave out duplicates ({added})"),
        ClauseKind::Group => format!("group by {added}"),
        ClauseKind::Column => format!("show {added} too"),
        ClauseKind::Order => format!("order by {added}"),
        ClauseKind::Limit => format!("show at most {added} rows unless asked otherwise"),
        ClauseKind::Combination => format!("combine the parts with {added}"),
    }
}

fn describe_removed(part: ClauseKind, removed: &str) -> String {
    match part {
        ClauseKind::Filter => format!("do not filter {removed} unless asked to"),
        ClauseKind::Having => format!("do not leave out groups by {removed} unless asked to"),
        ClauseKind::Table => format!("do not use the table {removed}"),
        ClauseKind::Join => format!("do not add {removed}"),
        ClauseKind::Aggregate => format!("do not compute {removed}"),
        ClauseKind::Distinct => "keep duplicates (no DISTINCT)".to_owned(),
        ClauseKind::Group => format!("do not group by {removed}"),
        ClauseKind::Column => format!("do not show {removed}"),
        ClauseKind::Order => format!("do not order by {removed}"),
        ClauseKind::Limit => format!("do not cut the result to {removed} rows unless asked to"),
        ClauseKind::Combination => format!("do not use {removed}"),
    }
}

fn describe_replaced(part: ClauseKind, removed: &str, added: &str) -> String {
    match part {
        ClauseKind::Filter | ClauseKind::Having => format!("filter {added} rather than {removed}"),
        ClauseKind::Table => format!("use the table {added} rather than {removed}"),
        ClauseKind::Join | ClauseKind::Distinct | ClauseKind::Combination => {
            format!("use {added} rather than {removed}")
        }
        ClauseKind::Aggregate => format!("compute {added} rather than {removed}"),
        ClauseKind::Group => format!("group by {added} rather than {removed}"),
        ClauseKind::Column => format!("show {added} rather than {removed}"),
        ClauseKind::Order => format!("order by {added} rather than {removed}"),
        ClauseKind::Limit => format!("show {added} rows rather than {removed}"),
    }
}

const MAX_SUMMARY_WORDS: usize = 12;

/// Lists the SQL clauses or words that a correction added, or else those it removed.
///
/// The summary serves as the remark of the turn, so that equal corrections form a pattern.
pub fn summarise_correction(original: &str, corrected: &str) -> String {
    if extract_statement(original).or(extract_statement(corrected)).is_some() {
        let Some(edits) = diff_answers(original, corrected) else { return String::new() };
        // A sentence inside a literal is user text, not a condition.
        let is_condition = |text: &&str| !contains_sentence(text);
        let list_conditions = |side: fn(&SqlEdit) -> Option<&str>| -> Vec<&str> {
            edits.iter().filter_map(side).filter(is_condition).collect()
        };
        let added = list_conditions(|edit| edit.added.as_deref());
        let removed = list_conditions(|edit| edit.removed.as_deref());
        return if added.is_empty() { removed } else { added }.join(", ");
    }
    let known: Vec<String> =
        extract_content_words(original).into_iter().map(|word| word.stem).collect();
    let new =
        extract_content_words(corrected).into_iter().filter(|word| !known.contains(&word.stem));
    new.take(MAX_SUMMARY_WORDS).map(|word| word.word).collect::<Vec<_>>().join(" ")
}

/// Lists the changes of an SQL correction; empty for other texts and unparsable statements.
pub fn extract_changes(original: &str, corrected: &str) -> Vec<AnswerChange> {
    let change = |edit: SqlEdit| {
        let side = |side: Option<String>| side.unwrap_or_default();
        let text = format!("{:?}: {} -> {}", edit.part, side(edit.removed), side(edit.added));
        AnswerChange { about: edit.about, text }
    };
    diff_answers(original, corrected).unwrap_or_default().into_iter().map(change).collect()
}
