//! The parsed name of an item.

use super::tokenizer::{Gap, Piece, Reading};
use super::weight::{Weight, weight_of};

/// Maximum tokens of a name.
const MOST_PIECES: usize = 24;
/// Maximum bytes of a name.
pub(super) const LONGEST_NAME: usize = 400;

/// The part of the item's full name that this name covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// The beginning: "Kestrel" of "Kestrel queue client".
    Head,
    /// A page title without its site name.
    Title,
    /// The last part of a path or of a qualified name.
    Tail(Tail),
}

/// The end of a path: `login.py` of `src/auth/login.py`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// Token indexes at which the preceding parts start, nearest first.
    pub(super) before: Vec<usize>,
    /// File name as written, with its ending; `None` for symbols.
    pub(super) file: Option<String>,
    /// The name is so common that it needs a folder.
    pub(super) is_ordinary: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) reading: Reading,
    /// Range of required tokens, inclusive. Articles, sections and file endings are excluded.
    pub(super) first: usize,
    pub(super) last: usize,
    /// True without spaces: `UserService`, `quick-open-panel`, `OPS-3307`.
    pub(super) is_identifier: bool,
    pub(super) part: Part,
    pub(super) has_comma: bool,
    pub(super) has_hyphen: bool,
    pub(super) rarest: Weight,
    pub(super) weight: f32,
}

impl Name {
    pub(super) fn of(name: &str) -> Option<Self> {
        let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
        let mut reading = Reading::of(name);
        reading.pieces.truncate(MOST_PIECES);
        let last = reading.pieces.len().checked_sub(1)?;
        let article = last > 0
            && weight_of(&reading, &reading.pieces[0]) == Weight::Empty
            && reading.pieces[1].gap == Gap::Space;
        Some(Self::between(name, reading, usize::from(article), last, Part::Whole))
    }

    /// Builds a name from the tokens `first` to `last`.
    pub(super) fn between(
        name: &str,
        reading: Reading,
        first: usize,
        last: usize,
        part: Part,
    ) -> Self {
        let weigh = |piece: &Piece| weight_of(&reading, piece);
        let weights: Vec<Weight> = reading.pieces[first..=last].iter().map(weigh).collect();
        Self {
            first,
            last,
            is_identifier: !name.contains(char::is_whitespace),
            part,
            has_comma: name.contains([',', ';', ':', '.', '–', '—']),
            has_hyphen: name.contains('-'),
            rarest: weights.iter().copied().max().unwrap_or(Weight::Empty),
            weight: weights.iter().map(|w| w.number()).sum(),
            reading,
        }
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        &self.reading.pieces[self.first..=self.last]
    }

    pub(super) fn joined(&self) -> &str {
        self.joined_from(self.first)
    }

    pub(super) fn joined_from(&self, first: usize) -> &str {
        let pieces = &self.reading.pieces;
        &self.reading.folded[pieces[first].from as usize..pieces[self.last].to as usize]
    }

    pub(super) fn has_letters_and_digits(&self) -> bool {
        let joined = self.joined();
        joined.contains(|c: char| c.is_numeric()) && joined.contains(char::is_alphabetic)
    }

    pub(super) fn is_distinctive(&self) -> bool {
        self.has_letters_and_digits() || self.rarest == Weight::Rare
    }

    pub(super) fn is_one_word(&self) -> bool {
        self.first == self.last
    }

    /// Word hashes of the name, which do not count as support for it.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u32> {
        self.reading.pieces.iter().map(|p| p.hash)
    }
}
