//! Instructions from contrasts, remarks and errors.

use std::collections::{BTreeMap, BTreeSet};

use super::consensus::{
    AgreedInstruction, AuthoredTurn, Support, has_two_authors, support_from_turns,
};
use super::{PatternEvidence, Remark, SuggestionBasis, is_prompt_injection, sanitisation};
use crate::failures::{CountedContrast, extract_signed_terms};

/// Distinct remarks that are compared with all others, most common first.
const MAX_COMPARED_REMARKS: usize = 500;

struct RemarkGroup<'a> {
    terms: BTreeSet<String>,
    /// The shortest remark; ties go to the alphabetically first.
    text: &'a str,
    support: Support<'a>,
}

impl<'a> PatternEvidence<'a> {
    pub(super) fn suggest_from_contrasts(&self) -> Vec<AgreedInstruction<'a>> {
        let agreed = |contrast: &'a CountedContrast| {
            let sides = [&contrast.wants, &contrast.instead_of];
            if sides.into_iter().flatten().any(|side| is_prompt_injection(side)) {
                return None;
            }
            let side = |side: &Option<String>| {
                side.as_deref().map(sanitisation::sanitise_words).filter(|text| !text.is_empty())
            };
            let instruction = match (side(&contrast.wants), side(&contrast.instead_of)) {
                (Some(wants), Some(instead_of)) => format!("prefer {wants} over {instead_of}"),
                (Some(wants), None) => format!("prefer {wants}"),
                (None, Some(instead_of)) => format!("avoid {instead_of} unless asked for"),
                (None, None) => return None,
            };
            let support = support_from_turns(&contrast.turns, &self.authors);
            let total = self.pattern.count as usize;
            let worded = (instruction, contrast_idea(contrast));
            AgreedInstruction::new(SuggestionBasis::Contrast, worded, support, total)
        };
        self.pattern.contrasts.iter().filter_map(agreed).collect()
    }

    /// The most supported remark, in its shortest wording.
    pub(super) fn suggest_from_remarks(&self) -> Option<AgreedInstruction<'a>> {
        let groups = self.group_remarks();
        let total = groups.iter().map(|one| one.support.len()).sum();
        let supporters = |own: &BTreeSet<String>| -> Support<'a> {
            let agrees = |other: &&RemarkGroup<'a>| own.is_subset(&other.terms);
            groups.iter().filter(agrees).flat_map(|other| other.support.iter().copied()).collect()
        };
        // A single word is too vague to act on.
        let (group, support) = groups
            .iter()
            .filter(|one| one.terms.len() >= 2)
            .take(MAX_COMPARED_REMARKS)
            .map(|one| (one, supporters(&one.terms)))
            .filter(|(_, support)| has_two_authors(support))
            .max_by(|(a, a_support), (b, b_support)| {
                let shorter = b.text.len().cmp(&a.text.len());
                let larger = a_support.len().cmp(&b_support.len());
                larger.then(shorter).then_with(|| b.text.cmp(a.text))
            })?;
        let words = sanitisation::sanitise_words(group.text);
        let instruction = format!("follow what users asked for: \"{words}\"");
        let worded = (instruction, group.terms.clone());
        AgreedInstruction::new(SuggestionBasis::Remarks, worded, support, total)
    }

    /// Groups remarks by signed terms, most supported first. Prompt injections are dropped.
    fn group_remarks(&self) -> Vec<RemarkGroup<'a>> {
        let mut by_person: BTreeMap<AuthoredTurn<'a>, &Remark<'a>> = BTreeMap::new();
        self.remarks.iter().for_each(|remark| {
            by_person.entry((remark.turn_id, remark.author)).or_insert(remark);
        });
        let mut by_terms: BTreeMap<BTreeSet<String>, RemarkGroup<'a>> = BTreeMap::new();
        for (authored, remark) in by_person {
            let terms = extract_signed_terms(remark.text);
            if terms.is_empty() || is_prompt_injection(remark.text) {
                continue;
            }
            let new =
                || RemarkGroup { terms: terms.clone(), text: remark.text, support: Support::new() };
            let group = by_terms.entry(terms.clone()).or_insert_with(new);
            group.support.insert(authored);
            if (remark.text.len(), remark.text) < (group.text.len(), group.text) {
                group.text = remark.text;
            }
        }
        let mut group: Vec<RemarkGroup<'a>> = by_terms.into_values().collect();
        group.sort_by(|a, b| {
            b.support.len().cmp(&a.support.len()).then_with(|| a.terms.cmp(&b.terms))
        });
        group
    }

    pub(super) fn suggest_from_errors(&self) -> Option<AgreedInstruction<'a>> {
        let named = self.pattern.error_type.as_deref().filter(|name| !is_prompt_injection(name))?;
        let error_type = sanitisation::sanitise_words(named);
        let support = support_from_turns(&self.pattern.turns, &self.authors);
        let total = support.len();
        let instruction = format!("take care: answers fail with {error_type}");
        let worded = (instruction, BTreeSet::from([error_type.clone()]));
        AgreedInstruction::new(SuggestionBasis::Errors, worded, support, total)
            .filter(|_| !error_type.is_empty())
    }
}

/// Stems of what is wanted, and of what is not, with their direction.
fn contrast_idea(contrast: &CountedContrast) -> BTreeSet<String> {
    let side = |text: &Option<String>| extract_signed_terms(text.as_deref().unwrap_or_default());
    let unwanted = side(&contrast.instead_of).into_iter().map(|term| format!("instead of {term}"));
    side(&contrast.wants).into_iter().chain(unwanted).collect()
}
