//! Whether an answer names an item, and whether the words are meant as its name.

use super::line::is_in_comment;
use super::reading::{Gap, Piece, Reading, Sort};
use super::weight::{Weight, vocabulary_place, weight_of};
use super::written::{AnswerKind, Written, opening_of};
use crate::lexicon::lexicon;

/// One word this long is no everyday word.
const LONG_WORD: u32 = 14;
/// More pieces than a name has.
const MOST_PIECES: usize = 24;

/// How surely the words found are the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// Everyday words that could mean anything.
    Common,
    /// Rare words, or words written as a name.
    Likely,
    /// Nothing else is called that.
    Sure,
}

/// Where a name was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) certainty: Certainty,
}

/// A name that is looked for.
pub(super) struct Name {
    reading: Reading,
    /// Pieces of it that must be there; what is left out is an article, a section or a file ending.
    first: usize,
    last: usize,
    /// No spaces: `UserService`, `quick-open-panel`, `OPS-3307`.
    is_identifier: bool,
    /// Only the beginning of the name.
    is_head: bool,
    has_comma: bool,
    has_hyphen: bool,
    rarest: Weight,
    weight: f32,
}

/// The spellings under which an item may be named, the full one first.
pub(super) fn names_of(name: &str) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let trimmed = name.trim();
    let Some(whole) = Name::of(trimmed) else { return names };
    let heads = whole.heads();
    names.push(whole);
    // "tarpitd(8)", "Leaflet 44: home office", "values.yaml": the part before is a name too.
    if let Some((head, _)) = trimmed.split_once(['(', '[']) {
        names.extend(Name::of(head).filter(Name::is_distinctive));
    }
    if let Some((head, _)) = trimmed.split_once([':', ',', '–', '—']) {
        names.extend(Name::of(head).filter(|n| n.is_distinctive() && n.has_letters_and_digits()));
    }
    names.extend(heads);
    if let Some((stem, ending)) = trimmed.rsplit_once('.') {
        let is_file =
            (1..=5).contains(&ending.len()) && !ending.contains(' ') && !stem.contains(' ');
        if is_file {
            names.extend(Name::of(stem).filter(|n| n.last > n.first && n.is_identifier));
        }
    }
    names
}

impl Name {
    pub(super) fn of(name: &str) -> Option<Self> {
        let mut reading = Reading::of(name);
        reading.pieces.truncate(MOST_PIECES);
        let last = reading.pieces.len().checked_sub(1)?;
        let weights: Vec<Weight> = reading.pieces.iter().map(|p| weight_of(&reading, p)).collect();
        let article =
            last > 0 && weights[0] == Weight::Empty && reading.pieces[1].gap == Gap::Space;
        let first = usize::from(article);
        Some(Self {
            first,
            last,
            is_identifier: !name.contains(char::is_whitespace),
            is_head: false,
            has_comma: name.contains([',', ';', ':', '.', '–', '—']),
            has_hyphen: name.contains('-'),
            rarest: weights[first..].iter().copied().max().unwrap_or(Weight::Empty),
            weight: weights[first..].iter().map(|w| w.number()).sum(),
            reading,
        })
    }

    /// What is left when the sort of thing is left out: the "Nimbus 3000" is a scooter, and "Kestrel" a
    /// queue client. Only the content can tell whether that is meant.
    fn heads(&self) -> Vec<Self> {
        if self.last == self.first || self.is_identifier {
            return Vec::new();
        }
        let pieces = &self.reading.pieces;
        let is_figure = |p: &Piece| matches!(p.sort, Sort::Number | Sort::Mixed);
        let near = self.first + 1..=self.last.min(self.first + 2);
        let figure = near.into_iter().find(|at| is_figure(&pieces[*at]));
        let first = &pieces[self.first];
        let rare = first.capital && first.to - first.from >= 5;
        let rare = rare && weight_of(&self.reading, first) == Weight::Rare;
        let lasts = [figure, rare.then_some(self.first)];
        let heads = lasts.into_iter().flatten().filter(|last| *last < self.last);
        heads
            .map(|last| Self { last, is_head: true, reading: self.reading.clone(), ..*self })
            .collect()
    }

    fn pieces(&self) -> &[Piece] {
        &self.reading.pieces[self.first..=self.last]
    }

    /// The name without separators.
    fn joined(&self) -> &str {
        let pieces = self.pieces();
        &self.reading.folded[pieces[0].from as usize..pieces[pieces.len() - 1].to as usize]
    }

    fn has_letters_and_digits(&self) -> bool {
        let joined = self.joined();
        joined.contains(|c: char| c.is_numeric()) && joined.contains(char::is_alphabetic)
    }

    fn is_distinctive(&self) -> bool {
        self.has_letters_and_digits() || self.rarest == Weight::Rare
    }

    fn is_one_word(&self) -> bool {
        self.first == self.last
    }

    /// Words of the name, so that they are not counted as support for it.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u32> {
        self.reading.pieces.iter().map(|p| p.hash)
    }

    /// The surest place where the answer has the name.
    pub(super) fn find(&self, answer: &Written<'_>) -> Option<Named> {
        let joined = self.joined();
        let low = opening_of(joined.as_bytes());
        let high = match joined.len() {
            0 => return None,
            1 => low + 0xffff,
            2 => low + 0xff,
            _ => low,
        };
        let from = answer.openings.partition_point(|(opening, _)| *opening < low);
        let candidates = answer.openings[from..].iter().take_while(|(opening, _)| *opening <= high);
        candidates
            .filter_map(|(_, first)| self.at(answer, *first as usize, joined))
            .max_by_key(|named| (named.certainty, std::cmp::Reverse(named.first)))
    }

    fn at(&self, answer: &Written<'_>, first: usize, joined: &str) -> Option<Named> {
        let pieces = &answer.reading.pieces;
        let from = pieces[first].from as usize;
        if !answer.reading.folded[from..].starts_with(joined) {
            return None;
        }
        let to = (from + joined.len()) as u32;
        let last = first + pieces[first..].iter().position(|p| p.to >= to)?;
        // "webhook signatures" names "Webhook signature".
        let rest = &answer.reading.folded[to as usize..pieces[last].to as usize];
        let plural = rest == "s" && !self.is_one_word() && pieces[last].sort == Sort::Letters;
        let whole = rest.is_empty() || plural;
        let open = !answer.silent[first] && !self.is_inside(answer, first, last);
        if !whole || !open || !self.gaps_fit(answer, first, last) {
            return None;
        }
        let mut certainty = self.certainty(answer, first, last);
        if self.is_head {
            let proper = pieces[first].capital && certainty > Certainty::Common;
            certainty = if proper { Certainty::Likely } else { return None };
        }
        Some(Named { first, last, certainty })
    }

    /// Whether what was found is part of a longer identifier or of a longer name.
    fn is_inside(&self, answer: &Written<'_>, first: usize, last: usize) -> bool {
        let pieces = &answer.reading.pieces;
        let (one, next) = (&pieces[first], pieces.get(last + 1));
        let signs = |a: &Piece, b: &Piece| a.sort == Sort::Sign || b.sort == Sort::Sign;
        let strict_hyphen = self.is_one_word()
            || (self.has_hyphen && self.is_identifier)
            || pieces[last].sort != Sort::Letters;
        // "Python 3" is not "Python 3.12".
        let goes_on = next.is_some_and(|n| n.gap == Gap::Dot && n.sort == Sort::Number)
            && pieces[last].sort == Sort::Number;
        let joins = |gap: Gap| match gap {
            Gap::None | Gap::Underscore => true,
            Gap::Hyphen => strict_hyphen,
            Gap::Dot | Gap::Apostrophe | Gap::Tight | Gap::Space | Gap::Break => false,
        };
        let before = first > 0 && joins(one.gap) && !signs(&pieces[first - 1], one);
        let after = next.is_some_and(|next| joins(next.gap) && !signs(&pieces[last], next));
        before || after || goes_on || self.is_in_a_longer_name(answer, last)
    }

    /// "Premium Plus" is not Premium, "Skarv 2 GT" is not Skarv 2.
    fn is_in_a_longer_name(&self, answer: &Written<'_>, last: usize) -> bool {
        let pieces = &answer.reading.pieces;
        let Some(next) = pieces.get(last + 1).filter(|next| next.gap == Gap::Space) else {
            return false;
        };
        let between = &answer.text[pieces[last].end as usize..next.start as usize];
        let names_more = match next.sort {
            Sort::Letters | Sort::Mixed => next.capital && !lexicon().is_common(next.hash),
            Sort::Number => pieces[last].sort == Sort::Letters && self.is_one_word(),
            Sort::Sign => false,
        };
        between == " "
            && names_more
            && pieces[last].capital | (pieces[last].sort != Sort::Letters)
            && answer.kind == AnswerKind::Response
            && (!answer.many_capitals || next.sort == Sort::Number)
    }

    /// No sentence and no comma may end inside the name, unless the name has one.
    fn gaps_fit(&self, answer: &Written<'_>, first: usize, last: usize) -> bool {
        let pieces = &answer.reading.pieces;
        (first + 1..=last).all(|at| {
            let between = &answer.text[pieces[at - 1].end as usize..pieces[at].start as usize];
            let parted = between.contains([',', ';']) || pieces[at].gap == Gap::Break;
            between.len() <= 6 && (self.has_comma || !parted)
        })
    }

    fn certainty(&self, answer: &Written<'_>, first: usize, last: usize) -> Certainty {
        let pieces = &answer.reading.pieces[first..=last];
        let spaced = pieces[1..].iter().any(|p| matches!(p.gap, Gap::Space | Gap::Break));
        if self.has_letters_and_digits() && self.joined().len() >= 4 {
            return Certainty::Sure;
        }
        if self.is_one_word() {
            return self.certainty_of_a_word(answer, first);
        }
        let capitals = pieces.iter().filter(|p| p.sort == Sort::Letters).all(|p| p.capital);
        let proper = capitals && !answer.many_capitals && pieces[0].gap == Gap::Space;
        if self.is_identifier && self.pieces().len() > 1 {
            return if spaced && !proper { Certainty::Likely } else { Certainty::Sure };
        }
        let telling = self.pieces().len() >= 3 && self.weight >= 1.4;
        if telling || proper {
            return Certainty::Sure;
        }
        if self.weight >= 1.0 { Certainty::Likely } else { Certainty::Common }
    }

    fn certainty_of_a_word(&self, answer: &Written<'_>, at: usize) -> Certainty {
        let piece = &answer.reading.pieces[at];
        // "Reisekosten-Richtlinie" is one word as well.
        let length = self.joined().len() as u32;
        let unknown = vocabulary_place(self.joined()).is_none();
        if piece.sort == Sort::Sign || length < 2 {
            return Certainty::Common;
        }
        if unknown && length >= LONG_WORD {
            return Certainty::Sure;
        }
        if is_written_as_a_name(self, answer, at) {
            let typed = piece.capital && answer.is_blanked(piece.start as usize);
            return if unknown || typed { Certainty::Sure } else { Certainty::Likely };
        }
        if unknown { Certainty::Likely } else { Certainty::Common }
    }
}

/// In code, or with a capital where only names have one.
fn is_written_as_a_name(name: &Name, answer: &Written<'_>, at: usize) -> bool {
    let piece = &answer.reading.pieces[at];
    let same_case = piece.capital == name.pieces()[0].capital;
    let (start, end) = (piece.start as usize, piece.end as usize);
    let (before, after) = (&answer.text[..start], &answer.text[end..]);
    if before.ends_with('`') && after.starts_with('`') {
        return same_case;
    }
    let in_code = answer.kind == AnswerKind::Code || answer.is_blanked(start);
    if in_code {
        let qualified = after.starts_with("::") || after.starts_with('(') || after.starts_with('.');
        let declared = ["def ", "fn ", "class ", "struct ", "function ", "func ", "interface "];
        let own = declared.iter().any(|word| before.ends_with(word));
        let typed =
            answer.kind == AnswerKind::Code && piece.capital && !is_in_comment(answer.text, start);
        return same_case && (qualified || typed) && !before.ends_with('.') && !own;
    }
    let follows_a_name = at > 0 && answer.reading.pieces[at - 1].capital;
    piece.capital
        && same_case
        && piece.gap == Gap::Space
        && !answer.many_capitals
        && !follows_a_name
}
