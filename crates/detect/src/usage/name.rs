//! The parsed name of an item.

use super::tokenizer::{Gap, Token, TokenizedText};
use super::weight::{WordWeight, weigh_word};

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
        let tokens = &self.tokenized.tokens;
        &self.tokenized.folded
            [tokens[first].folded_start as usize..tokens[self.last].folded_end as usize]
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
