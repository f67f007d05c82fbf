//! A name that is looked for in an answer.

use super::reading::{Gap, Piece, Reading};
use super::weight::{Weight, weight_of};

/// More pieces than a name has.
const MOST_PIECES: usize = 24;
/// Bytes of a name that are read.
pub(super) const LONGEST_NAME: usize = 400;

/// How much of the item's full name this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// Only the beginning: the "Kestrel" of a queue client.
    Head,
    /// A title without the site it stands on.
    Title,
    /// The last part of a path or of a qualified name.
    Tail(Tail),
}

/// The end of a path: `login.py` of `src/auth/login.py`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The pieces at which the parts before it begin, the nearest first.
    pub(super) before: Vec<usize>,
    /// As it is written, with its ending; what is no file may be spelt in any way.
    pub(super) file: Option<String>,
    /// Every project has one of these: it needs a folder.
    pub(super) is_ordinary: bool,
}

/// A name that is looked for.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) reading: Reading,
    /// Pieces of it that must be there; what is left out is an article, a section or a file ending.
    pub(super) first: usize,
    pub(super) last: usize,
    /// No spaces: `UserService`, `quick-open-panel`, `OPS-3307`.
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

    /// The pieces from `first` to `last` of what was read from `name`.
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

    /// The name without separators.
    pub(super) fn joined(&self) -> &str {
        self.joined_from(self.first)
    }

    /// The same from an earlier piece on.
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

    /// Words of the name, so that they are not counted as support for it.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u32> {
        self.reading.pieces.iter().map(|p| p.hash)
    }
}
