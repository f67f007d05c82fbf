//! Detects which retrieved items an answer used: by name, by citation, or by content.
//!
//! The answer and each item are parsed once, so the cost is linear in their total length. Only
//! surface evidence counts: a paraphrase without any trace of the item counts as not used.

mod gap;
mod tokenizer;
mod word_lists;
mod weight;
mod rule;
mod runs;
mod identifiers;
mod bloom_filter;
mod suffix_array;
mod parsed_answer;
mod link;
mod layout;
mod numbered_sources;
mod citation;
mod citation_index;
mod name;
mod name_endings;
mod certainty;
mod name_match;
mod name_variants;
mod content_overlap;

use rustc_hash::FxHashSet;

pub use parsed_answer::{AnswerKind, Written};
pub use rule::UsageRule;

use certainty::Certainty;
use citation_index::CitedItems;
use content_overlap::{Scratch, Shared};
use name::Name;
use name_endings::Endings;
use name_match::Named;
use name_variants::names_of;

/// An item that was retrieved for the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReturnedItem<'a> {
    pub entity_id: &'a str,
    pub name: Option<&'a str>,
    pub content: Option<&'a str>,
    /// Rank in the result list, from 1.
    pub rank: Option<u32>,
}

/// Kind of evidence that an item was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UseReason {
    Name,
    /// The answer cites its id or its number, or links to it.
    Citation,
    /// The answer contains its words or its identifiers.
    Content,
}

impl UseReason {
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Citation => "citation",
            Self::Content => "content",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct UseEvidence {
    pub reason: UseReason,
    /// First byte in the answer.
    pub start: usize,
    /// End of the range, exclusive.
    pub end: usize,
    /// Share of the item's content found in the answer, 0 to 1; 1 for a name or a citation.
    pub share: f64,
}

/// Result of use detection for one item.
#[derive(Clone, Debug, PartialEq)]
pub enum Use {
    Used(UseEvidence),
    /// No evidence found.
    Ignored,
    /// Name and content are unknown and the item is not cited.
    Unknown,
}

/// Detects the use of each item in the answer. Returns one result per item, in order.
pub fn detect_use(rule: &UsageRule, answer: &Written<'_>, items: &[ReturnedItem<'_>]) -> Vec<Use> {
    let cited = CitedItems::of(answer, items);
    let names: Vec<Vec<Name>> =
        items.iter().map(|item| item.name.map(names_of).unwrap_or_default()).collect();
    let mut endings = Endings::default();
    for (item, names) in items.iter().zip(&names) {
        endings.add(item.name.unwrap_or_default(), names);
    }
    let mut scratch = Scratch::default();
    let look = |(item, names): (&ReturnedItem<'_>, &Vec<Name>)| {
        if let Some(citation) = cited.citation_of(item) {
            return used(UseReason::Citation, citation.start, citation.end, 1.0);
        }
        look_for(rule, answer, item, (names, &endings), &mut scratch)
    };
    items.iter().zip(&names).map(look).collect()
}

fn look_for(
    rule: &UsageRule,
    answer: &Written<'_>,
    item: &ReturnedItem<'_>,
    (names, endings): (&[Name], &Endings),
    scratch: &mut Scratch,
) -> Use {
    let found = names.iter().filter_map(|name| name.find(answer, endings));
    let named = found.max_by_key(|named| named.certainty);
    let sure = named.filter(|named| named.certainty == Certainty::Sure);
    if let Some(found) = sure {
        return at_pieces(answer, UseReason::Name, found.first, found.last, 1.0);
    }
    if let Some(found) = mentioned_id(answer, endings, item.entity_id) {
        return at_pieces(answer, UseReason::Citation, found.first, found.last, 1.0);
    }
    let content = item.content.filter(|content| !content.trim().is_empty());
    let Some(content) = content else {
        // Without content, nothing else can support a likely name.
        return match named {
            Some(found) if found.certainty == Certainty::Likely => {
                at_pieces(answer, UseReason::Name, found.first, found.last, 1.0)
            }
            Some(_) => Use::Ignored,
            None if names.is_empty() => Use::Unknown,
            None => Use::Ignored,
        };
    };
    let name_words: FxHashSet<u32> = names.iter().flat_map(Name::hashes).collect();
    let shared = Shared::of(rule, answer, content, &name_words, scratch);
    if let Some((first, last, share)) = shared.evidence(rule, answer) {
        return at_pieces(answer, UseReason::Content, first, last, share);
    }
    match named {
        Some(found) if shared.support >= needed(rule, found.certainty) => {
            at_pieces(answer, UseReason::Name, found.first, found.last, 1.0)
        }
        Some(_) | None => Use::Ignored,
    }
}

fn needed(rule: &UsageRule, certainty: Certainty) -> usize {
    match certainty {
        Certainty::Common => rule.support_for_a_common_name,
        Certainty::Likely => rule.support_for_a_likely_name,
        Certainty::Sure => 0,
    }
}

/// Matches a distinctive id without brackets: "see kb-5520".
fn mentioned_id(answer: &Written<'_>, endings: &Endings, id: &str) -> Option<Named> {
    let marks = id.chars().filter(|c| !c.is_alphanumeric()).count();
    let digits = id.contains(|c: char| c.is_ascii_digit());
    let letters = id.contains(char::is_alphabetic);
    if id.len() < 5 || marks == 0 || !letters || id.contains(char::is_whitespace) {
        return None;
    }
    let found = Name::of(id)?.find(answer, endings)?;
    let pieces = &answer.reading.pieces;
    let written = &answer.text[pieces[found.first].start as usize..pieces[found.last].end as usize];
    let before = answer.text[..pieces[found.first].start as usize].chars().next_back();
    // "blue-green" is also an ordinary word; in brackets or as code it is the id.
    let telling = digits || marks >= 2 || matches!(before, Some('(' | '`' | '<' | '#' | '@'));
    (telling && written.eq_ignore_ascii_case(id)).then_some(found)
}

fn at_pieces(
    answer: &Written<'_>,
    reason: UseReason,
    first: usize,
    last: usize,
    share: f64,
) -> Use {
    let pieces = &answer.reading.pieces;
    used(reason, pieces[first].start as usize, pieces[last].end as usize, share)
}

fn used(reason: UseReason, start: usize, end: usize, share: f64) -> Use {
    Use::Used(UseEvidence { reason, start, end, share })
}

#[cfg(test)]
mod tests;
