//! Instructions from what users said, and from errors.

use std::collections::{BTreeMap, BTreeSet};

use super::when;
use super::{Agreed, LEAST, PatternEvidence, Remark, Suggestion, SuggestionBasis, safe, sentence};
use crate::failures::{CountedContrast, stems};

/// What several turns wanted instead of the same.
pub(super) fn from_contrasts(evidence: &PatternEvidence<'_>) -> Vec<Suggestion> {
    let pattern = evidence.pattern;
    let told = |contrast: &CountedContrast| {
        let side = |side: &Option<String>| {
            side.as_deref().map(safe::words).filter(|text| !text.is_empty())
        };
        let what = match (side(&contrast.wants), side(&contrast.instead_of)) {
            (Some(wants), Some(instead_of)) => format!("prefer {wants} over {instead_of}"),
            (Some(wants), None) => format!("prefer {wants}"),
            (None, Some(instead_of)) => format!("avoid {instead_of} unless asked for"),
            (None, None) => return None,
        };
        let agreed = Agreed {
            basis: SuggestionBasis::Contrast,
            instruction: sentence(&format!("{}{what}", when(pattern))),
            why: format!("{} of {} turns asked for this instead", contrast.count, pattern.count),
            turns: Vec::new(),
            of: pattern.count as usize,
        };
        let suggestion = agreed.suggested(pattern);
        let evidence = contrast.turns.clone();
        Some(Suggestion { agree: evidence.len() as u32, evidence, ..suggestion })
    };
    let repeated = pattern.contrasts.iter().filter(|contrast| contrast.turns.len() >= LEAST);
    repeated.filter_map(told).collect()
}

/// What several turns said in about the same words: the shortest of those remarks speaks for all.
pub(super) fn from_remarks(evidence: &PatternEvidence<'_>) -> Option<Suggestion> {
    let mut by_turn: BTreeMap<&str, &Remark<'_>> = BTreeMap::new();
    evidence.remarks.iter().for_each(|remark| {
        by_turn.entry(remark.turn_id).or_insert(remark);
    });
    let read: Vec<(&str, &str, BTreeSet<String>)> = by_turn
        .values()
        .map(|remark| (remark.turn_id, remark.said, stems(remark.said)))
        .filter(|(_, _, stems)| !stems.is_empty())
        .collect();
    let supporters = |own: &BTreeSet<String>| {
        let agrees = |other: &&(&str, &str, BTreeSet<String>)| own.is_subset(&other.2);
        read.iter().filter(agrees).map(|(turn, _, _)| *turn).collect::<Vec<_>>()
    };
    // A single word is too little to go by, unless it is all that is ever said.
    let telling = |stems: &BTreeSet<String>| stems.len() >= 2;
    let (said, turns) = read
        .iter()
        .filter(|(_, _, stems)| telling(stems))
        .map(|(_, said, stems)| (*said, supporters(stems)))
        .filter(|(_, turns)| turns.len() >= LEAST)
        .max_by(|a, b| {
            let shorter = b.0.len().cmp(&a.0.len());
            a.1.len().cmp(&b.1.len()).then(shorter).then_with(|| b.0.cmp(a.0))
        })?;
    let agreed = Agreed {
        basis: SuggestionBasis::Remarks,
        instruction: sentence(&format!(
            "{}follow what users asked for: {}",
            when(evidence.pattern),
            safe::quoted(said)
        )),
        why: format!("{} of {} remarks say this", turns.len(), read.len()),
        turns,
        of: read.len(),
    };
    Some(agreed.suggested(evidence.pattern))
}

/// Answers that fail with the same error.
pub(super) fn from_errors(evidence: &PatternEvidence<'_>) -> Option<Suggestion> {
    let pattern = evidence.pattern;
    let error_type = safe::words(pattern.error_type.as_deref()?);
    let enough = pattern.turns.len() >= LEAST && !error_type.is_empty();
    let agreed = Agreed {
        basis: SuggestionBasis::Errors,
        instruction: sentence(&format!(
            "{}take care: answers fail with {error_type}",
            when(pattern)
        )),
        why: format!("{} answers failed with {error_type}", pattern.count),
        turns: pattern.turns.iter().map(String::as_str).collect(),
        of: pattern.turns.len(),
    };
    enough.then(|| agreed.suggested(pattern))
}
