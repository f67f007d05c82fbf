//! Instructions from what users said, and from errors.

use std::collections::{BTreeMap, BTreeSet};

use super::agreed::{Agreed, are_several};
use super::{PatternEvidence, Remark, SuggestionBasis, orders, safe};
use crate::failures::{CountedContrast, stems};

/// Different remarks that are compared with all others: the commonest.
const MOST_COMPARED: usize = 500;

/// What several turns wanted instead of the same.
pub(super) fn from_contrasts<'a>(evidence: &PatternEvidence<'a>) -> Vec<Agreed<'a>> {
    let pattern = evidence.pattern;
    let told = |contrast: &'a CountedContrast| {
        let sides = [&contrast.wants, &contrast.instead_of];
        if sides.into_iter().flatten().any(|side| orders::is_order(side)) {
            return None;
        }
        let side = |side: &Option<String>| {
            side.as_deref().map(safe::words).filter(|text| !text.is_empty())
        };
        let what = match (side(&contrast.wants), side(&contrast.instead_of)) {
            (Some(wants), Some(instead_of)) => format!("prefer {wants} over {instead_of}"),
            (Some(wants), None) => format!("prefer {wants}"),
            (None, Some(instead_of)) => format!("avoid {instead_of} unless asked for"),
            (None, None) => return None,
        };
        let turns: BTreeSet<&str> = contrast.turns.iter().map(String::as_str).collect();
        let of = pattern.count as usize;
        are_several(&turns, &evidence.voices).then_some(Agreed {
            basis: SuggestionBasis::Contrast,
            what,
            turns,
            of,
        })
    };
    pattern.contrasts.iter().filter_map(told).collect()
}

/// What was said in the same words but for endings and little words.
struct Said<'a> {
    stems: BTreeSet<String>,
    /// The shortest, of equals the first in the alphabet.
    text: &'a str,
    turns: BTreeSet<&'a str>,
}

/// What several turns said in about the same words: the shortest of those remarks speaks for all.
pub(super) fn from_remarks<'a>(evidence: &PatternEvidence<'a>) -> Option<Agreed<'a>> {
    let said = by_words(evidence);
    let of = said.iter().map(|one| one.turns.len()).sum();
    let supporters = |own: &BTreeSet<String>| -> BTreeSet<&'a str> {
        let agrees = |other: &&Said<'a>| own.is_subset(&other.stems);
        said.iter().filter(agrees).flat_map(|other| other.turns.iter().copied()).collect()
    };
    // A single word is too little to go by.
    let (text, turns) = said
        .iter()
        .filter(|one| one.stems.len() >= 2)
        .take(MOST_COMPARED)
        .map(|one| (one.text, supporters(&one.stems)))
        .filter(|(_, turns)| are_several(turns, &evidence.voices))
        .max_by(|a, b| {
            let shorter = b.0.len().cmp(&a.0.len());
            a.1.len().cmp(&b.1.len()).then(shorter).then_with(|| b.0.cmp(a.0))
        })?;
    let what = format!("follow what users asked for: {}", safe::quoted(text));
    Some(Agreed { basis: SuggestionBasis::Remarks, what, turns, of })
}

/// Remarks that are none to the model, most turns first.
fn by_words<'a>(evidence: &PatternEvidence<'a>) -> Vec<Said<'a>> {
    let mut by_turn: BTreeMap<&str, &Remark<'a>> = BTreeMap::new();
    evidence.remarks.iter().for_each(|remark| {
        by_turn.entry(remark.turn_id).or_insert(remark);
    });
    let mut found: BTreeMap<BTreeSet<String>, Said<'a>> = BTreeMap::new();
    for remark in by_turn.into_values().filter(|remark| !orders::is_order(remark.said)) {
        let stems = stems(remark.said);
        if stems.is_empty() {
            continue;
        }
        let new = || Said { stems: stems.clone(), text: remark.said, turns: BTreeSet::new() };
        let said = found.entry(stems.clone()).or_insert_with(new);
        said.turns.insert(remark.turn_id);
        if (remark.said.len(), remark.said) < (said.text.len(), said.text) {
            said.text = remark.said;
        }
    }
    let mut said: Vec<Said<'a>> = found.into_values().collect();
    said.sort_by(|a, b| b.turns.len().cmp(&a.turns.len()).then_with(|| a.stems.cmp(&b.stems)));
    said
}

/// Answers that fail with the same error.
pub(super) fn from_errors<'a>(evidence: &PatternEvidence<'a>) -> Option<Agreed<'a>> {
    let pattern = evidence.pattern;
    let named = pattern.error_type.as_deref().filter(|name| !orders::is_order(name))?;
    let error_type = safe::words(named);
    let turns: BTreeSet<&str> = pattern.turns.iter().map(String::as_str).collect();
    let of = turns.len();
    let what = format!("take care: answers fail with {error_type}");
    let enough = !error_type.is_empty() && are_several(&turns, &evidence.voices);
    enough.then_some(Agreed { basis: SuggestionBasis::Errors, what, turns, of })
}
