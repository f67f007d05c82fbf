//! The parsed name of an item, and the index of all name endings.

use rustc_hash::FxHashMap;

use super::tokenizer::{Gap, Token, TokenizedText};
use super::weight::{WordWeight, weigh_word};
use crate::text::hash;

const MAX_NAME_TOKENS: usize = 24;
pub(super) const MAX_NAME_BYTES: usize = 400;

/// The part of the item's full name that this name covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NamePart {
    Whole,
    /// The beginning: "Kestrel" of "Kestrel queue client".
    Head,
    Title,
    /// The last part of a path or of a qualified name.
    Tail(PathTail),
}

/// The end of a path: `login.py` of `src/auth/login.py`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathTail {
    /// Token indexes at which the preceding parts start, nearest first.
    pub(super) preceding_parts: Vec<usize>,
    /// File name as written, with its ending; `None` for symbols.
    pub(super) file: Option<String>,
    /// The name is so common that it needs a folder.
    pub(super) is_ordinary: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ItemName {
    pub(super) tokenized: TokenizedText,
    /// Range of required tokens, inclusive. Articles, sections and file endings are excluded.
    pub(super) first: usize,
    pub(super) last: usize,
    /// True without spaces: `UserService`, `quick-open-panel`, `OPS-3307`.
    pub(super) is_identifier: bool,
    pub(super) part: NamePart,
    pub(super) has_comma: bool,
    pub(super) has_hyphen: bool,
    pub(super) rarest: WordWeight,
    pub(super) weight: f32,
}

impl ItemName {
    pub(super) fn parse(name: &str) -> Option<Self> {
        let name = &name[..name.floor_char_boundary(MAX_NAME_BYTES)];
        let mut tokenized = TokenizedText::new(name);
        tokenized.tokens.truncate(MAX_NAME_TOKENS);
        let last = tokenized.tokens.len().checked_sub(1)?;
        let article = last > 0
            && weigh_word(&tokenized, &tokenized.tokens[0]) == WordWeight::Empty
            && tokenized.tokens[1].gap == Gap::Space;
        Some(Self::from_range(name, tokenized, usize::from(article), last, NamePart::Whole))
    }

    pub(super) fn from_range(
        name: &str,
        tokenized: TokenizedText,
        first: usize,
        last: usize,
        part: NamePart,
    ) -> Self {
        let weigh = |token: &Token| weigh_word(&tokenized, token);
        let weights: Vec<WordWeight> = tokenized.tokens[first..=last].iter().map(weigh).collect();
        Self {
            first,
            last,
            is_identifier: !name.contains(char::is_whitespace),
            part,
            has_comma: name.contains([',', ';', ':', '.', '–', '—']),
            has_hyphen: name.contains('-'),
            rarest: weights.iter().copied().max().unwrap_or(WordWeight::Empty),
            weight: weights.iter().map(|w| w.as_f32()).sum(),
            tokenized,
        }
    }

    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokenized.tokens[self.first..=self.last]
    }

    pub(super) fn joined_text(&self) -> &str {
        self.joined_from(self.first)
    }

    pub(super) fn joined_from(&self, first: usize) -> &str {
        self.tokenized.folded_range(first, self.last)
    }

    pub(super) fn has_letters_and_digits(&self) -> bool {
        let joined = self.joined_text();
        joined.contains(|c: char| c.is_numeric()) && joined.contains(char::is_alphabetic)
    }

    pub(super) fn is_distinctive(&self) -> bool {
        self.has_letters_and_digits() || self.rarest == WordWeight::Rare
    }

    pub(super) fn is_one_word(&self) -> bool {
        self.first == self.last
    }

    /// Word hashes of the name, which do not count as support for it.
    pub(super) fn word_hashes(&self) -> impl Iterator<Item = u32> {
        self.tokenized.tokens.iter().map(|p| p.hash)
    }
}

/// Index of name endings: `login.py` identifies a file only when no other item ends with it.
#[derive(Default)]
pub(super) struct NameEndings {
    /// Owner of each ending; `None` when several names share it.
    owners: FxHashMap<u32, Option<u32>>,
}

impl NameEndings {
    /// Adds the endings of an item's name. Chunks of one document share their name and count as one
    /// owner.
    pub(super) fn add_name(&mut self, full: &str, names: &[ItemName]) {
        let owner = hash(1, full.as_bytes());
        for name in names {
            let preceding: &[usize] = match &name.part {
                NamePart::Whole | NamePart::Title => &[],
                NamePart::Tail(tail) => &tail.preceding_parts,
                NamePart::Head => continue,
            };
            self.record_ending(name, name.first, owner);
            preceding.iter().for_each(|first| self.record_ending(name, *first, owner));
        }
    }

    fn record_ending(&mut self, name: &ItemName, first: usize, owner: u32) {
        let known = self.owners.entry(ending_key(name, first)).or_insert(Some(owner));
        if *known != Some(owner) {
            *known = None;
        }
    }

    /// True when at most one item has this ending.
    pub(super) fn is_unique(&self, name: &ItemName, first: usize) -> bool {
        self.owners.get(&ending_key(name, first)) != Some(&None)
    }
}

fn ending_key(name: &ItemName, first: usize) -> u32 {
    hash(0, name.joined_from(first).as_bytes())
}
