//! Which retrieved items an answer used: named, cited, or taken over.
//!
//! The answer is read once, each item once: the work grows with the sum of their lengths. Says what
//! it can see on the surface; a paraphrase without any trace of the item is taken for not used.

mod reading;
mod lists;
mod weight;
mod rule;
mod runs;
mod identifiers;
mod written;
mod line;
mod link;
mod citation;
mod name;
mod content;

use rustc_hash::FxHashSet;

pub use rule::UsageRule;
pub use written::{AnswerKind, Written};

use citation::{Citation, Cited, citations};
use content::{Scratch, Shared};
use link::{is_year, leads_to};
use name::{Certainty, Name, Named, names_of};

/// An item that was retrieved for the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReturnedItem<'a> {
    /// Which item.
    pub entity_id: &'a str,
    /// What it is called.
    pub name: Option<&'a str>,
    /// What it says.
    pub content: Option<&'a str>,
    /// Where it stood, from 1.
    pub rank: Option<u32>,
}

/// What shows that an item was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UseReason {
    /// Its name is in the answer.
    Name,
    /// Its id or its number is cited, or a link leads to it.
    Citation,
    /// Its words or its identifiers are in the answer.
    Content,
}

impl UseReason {
    /// The word for it.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Citation => "citation",
            Self::Content => "content",
        }
    }
}

/// Where the answer shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct UseEvidence {
    /// What shows it.
    pub reason: UseReason,
    /// First byte in the answer.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Of the item's content, how much is there; 1 for a name or a citation.
    pub share: f64,
}

/// Whether an answer used an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Use {
    /// It did, and this shows it.
    Used(UseEvidence),
    /// Nothing of it is there.
    Ignored,
    /// Neither name nor content is known, and it is not cited: nobody can tell.
    Unknown,
}

/// Looks for each item in the answer; one finding an item, in their order.
pub fn detect_use(rule: &UsageRule, answer: &Written<'_>, items: &[ReturnedItem<'_>]) -> Vec<Use> {
    let cited = citations(answer.text, &answer.speech, answer.kind);
    let numbers = Numbers::of(items);
    let mut scratch = Scratch::default();
    items
        .iter()
        .map(|item| {
            let id = item.entity_id.to_lowercase();
            if let Some(citation) = cited.iter().find(|c| numbers.cites(c, item, &id)) {
                return used(UseReason::Citation, citation.start, citation.end, 1.0);
            }
            look_for(rule, answer, item, &mut scratch)
        })
        .collect()
}

fn look_for(
    rule: &UsageRule,
    answer: &Written<'_>,
    item: &ReturnedItem<'_>,
    scratch: &mut Scratch,
) -> Use {
    let names = item.name.map(names_of).unwrap_or_default();
    let named = names.iter().filter_map(|n| n.find(answer)).max_by_key(|named| named.certainty);
    let mention = mentioned_id(answer, item.entity_id);
    let sure = named.filter(|named| named.certainty == Certainty::Sure);
    if let Some(found) = sure {
        return at_pieces(answer, UseReason::Name, found.first, found.last, 1.0);
    }
    if let Some(found) = mention {
        return at_pieces(answer, UseReason::Citation, found.first, found.last, 1.0);
    }
    let content = item.content.filter(|content| !content.trim().is_empty());
    let Some(content) = content else {
        // Without content nothing else can bear out a likely name.
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

/// An id that nobody writes by chance counts as cited without brackets: "see kb-5520".
fn mentioned_id(answer: &Written<'_>, id: &str) -> Option<Named> {
    let marks = id.chars().filter(|c| !c.is_alphanumeric()).count();
    let digits = id.contains(|c: char| c.is_ascii_digit());
    let letters = id.contains(char::is_alphabetic);
    if id.len() < 5 || marks == 0 || !letters || id.contains(char::is_whitespace) {
        return None;
    }
    let found = Name::of(id)?.find(answer)?;
    let pieces = &answer.reading.pieces;
    let written = &answer.text[pieces[found.first].start as usize..pieces[found.last].end as usize];
    let before = answer.text[..pieces[found.first].start as usize].chars().next_back();
    // "blue-green" is also a word; in brackets or as code it is the id.
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

/// What a number in brackets means for these items: an id where there is such an id, else a rank.
struct Numbers {
    ids: FxHashSet<u64>,
    /// Ids that are numbers throughout leave no room for ranks.
    only_ids: bool,
}

impl Numbers {
    fn of(items: &[ReturnedItem<'_>]) -> Self {
        let ids: FxHashSet<u64> = items.iter().filter_map(|i| i.entity_id.parse().ok()).collect();
        let only_ids = !items.is_empty() && ids.len() == items.len();
        Self { ids, only_ids }
    }

    /// `id` is the item's in lower case.
    fn cites(&self, citation: &Citation, item: &ReturnedItem<'_>, id: &str) -> bool {
        match &citation.what {
            Cited::Number(number) if self.ids.contains(number) => {
                item.entity_id.parse() == Ok(*number)
            }
            Cited::Number(number) => {
                !self.only_ids && item.rank.is_some_and(|rank| u64::from(rank) == *number)
            }
            Cited::Label(label) => {
                let numeric = item.entity_id.parse().is_ok_and(|n: u64| is_year(n) || n < 1_000);
                !numeric && label == id
            }
            Cited::Link(link) => leads_to(link, id),
        }
    }
}

#[cfg(test)]
mod tests;
