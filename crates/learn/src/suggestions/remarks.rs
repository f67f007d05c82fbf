//! Instructions from what users said, and from errors.

use std::collections::{BTreeMap, BTreeSet};

use super::consensus::{Agreed, Given, Support, is_shared, of_turns};
use super::{PatternEvidence, Remark, SuggestionBasis, is_prompt_injection, sanitisation};
use crate::failures::{CountedContrast, gist};

/// Different remarks that are compared with all others: the commonest.
const MOST_COMPARED: usize = 500;

/// What several turns wanted instead of the same.
pub(super) fn from_contrasts<'a>(evidence: &PatternEvidence<'a>) -> Vec<Agreed<'a>> {
    let pattern = evidence.pattern;
    let told = |contrast: &'a CountedContrast| {
        let sides = [&contrast.wants, &contrast.instead_of];
        if sides.into_iter().flatten().any(|side| is_prompt_injection(side)) {
            return None;
        }
        let side = |side: &Option<String>| {
            side.as_deref().map(sanitisation::words).filter(|text| !text.is_empty())
        };
        let what = match (side(&contrast.wants), side(&contrast.instead_of)) {
            (Some(wants), Some(instead_of)) => format!("prefer {wants} over {instead_of}"),
            (Some(wants), None) => format!("prefer {wants}"),
            (None, Some(instead_of)) => format!("avoid {instead_of} unless asked for"),
            (None, None) => return None,
        };
        let support = of_turns(&contrast.turns, &evidence.voices);
        let of = pattern.count as usize;
        let basis = SuggestionBasis::Contrast;
        is_shared(&support).then_some(Agreed { basis, what, support, of })
    };
    pattern.contrasts.iter().filter_map(told).collect()
}

/// What asks for the same in the same words, but for endings and little words.
struct Said<'a> {
    gist: BTreeSet<String>,
    /// The shortest, of equals the first in the alphabet.
    text: &'a str,
    support: Support<'a>,
}

/// What several turns said in about the same words: the shortest of those remarks speaks for all.
pub(super) fn from_remarks<'a>(evidence: &PatternEvidence<'a>) -> Option<Agreed<'a>> {
    let said = by_words(evidence);
    let of = said.iter().map(|one| one.support.len()).sum();
    let supporters = |own: &BTreeSet<String>| -> Support<'a> {
        let agrees = |other: &&Said<'a>| own.is_subset(&other.gist);
        said.iter().filter(agrees).flat_map(|other| other.support.iter().copied()).collect()
    };
    // A single word is too little to go by.
    let (text, support) = said
        .iter()
        .filter(|one| one.gist.len() >= 2)
        .take(MOST_COMPARED)
        .map(|one| (one.text, supporters(&one.gist)))
        .filter(|(_, support)| is_shared(support))
        .max_by(|a, b| {
            let shorter = b.0.len().cmp(&a.0.len());
            a.1.len().cmp(&b.1.len()).then(shorter).then_with(|| b.0.cmp(a.0))
        })?;
    let what = format!("follow what users asked for: {}", sanitisation::quoted(text));
    Some(Agreed { basis: SuggestionBasis::Remarks, what, support, of })
}

/// Remarks that are none to the model, those of most people first.
fn by_words<'a>(evidence: &PatternEvidence<'a>) -> Vec<Said<'a>> {
    let mut by_person: BTreeMap<Given<'a>, &Remark<'a>> = BTreeMap::new();
    evidence.remarks.iter().for_each(|remark| {
        by_person.entry((remark.turn_id, remark.by)).or_insert(remark);
    });
    let mut found: BTreeMap<BTreeSet<String>, Said<'a>> = BTreeMap::new();
    for (given, remark) in by_person {
        let gist = gist(remark.said);
        if gist.is_empty() || is_prompt_injection(remark.said) {
            continue;
        }
        let new = || Said { gist: gist.clone(), text: remark.said, support: Support::new() };
        let said = found.entry(gist.clone()).or_insert_with(new);
        said.support.insert(given);
        if (remark.said.len(), remark.said) < (said.text.len(), said.text) {
            said.text = remark.said;
        }
    }
    let mut said: Vec<Said<'a>> = found.into_values().collect();
    said.sort_by(|a, b| b.support.len().cmp(&a.support.len()).then_with(|| a.gist.cmp(&b.gist)));
    said
}

/// Answers that fail with the same error.
pub(super) fn from_errors<'a>(evidence: &PatternEvidence<'a>) -> Option<Agreed<'a>> {
    let pattern = evidence.pattern;
    let named = pattern.error_type.as_deref().filter(|name| !is_prompt_injection(name))?;
    let error_type = sanitisation::words(named);
    let support = of_turns(&pattern.turns, &evidence.voices);
    let of = support.len();
    let what = format!("take care: answers fail with {error_type}");
    let enough = !error_type.is_empty() && is_shared(&support);
    enough.then_some(Agreed { basis: SuggestionBasis::Errors, what, support, of })
}
