//! Finds names in an answer.

use super::certainty::Certainty;
use super::name::{Name, Part};
use super::name_endings::Endings;
use super::parsed_answer::{AnswerKind, Written};
use super::tokenizer::{Gap, Piece, Sort};
use super::word_lists::lists;
use crate::lexicon::lexicon;

/// A matched name, as an inclusive token range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) certainty: Certainty,
}

impl Name {
    /// The most certain match of the name in the answer.
    pub(super) fn find(&self, answer: &Written<'_>, endings: &Endings) -> Option<Named> {
        let joined = self.joined();
        let places = answer.places.saying(&answer.reading, joined);
        places
            .filter_map(|first| self.at(answer, endings, first, joined))
            .max_by_key(|named| (named.certainty, std::cmp::Reverse(named.first)))
    }

    fn at(
        &self,
        answer: &Written<'_>,
        endings: &Endings,
        first: usize,
        joined: &str,
    ) -> Option<Named> {
        let pieces = &answer.reading.pieces;
        let from = pieces[first].from as usize;
        if !answer.reading.folded[from..].starts_with(joined) {
            return None;
        }
        let to = (from + joined.len()) as u32;
        let last = first + pieces[first..].iter().position(|p| p.to >= to)?;
        // "webhook signatures" matches "Webhook signature".
        let rest = &answer.reading.folded[to as usize..pieces[last].to as usize];
        let plural = rest == "s" && !self.is_one_word() && pieces[last].sort == Sort::Letters;
        let whole = rest.is_empty() || plural;
        let open = !answer.silent[first] && !is_inside(self, answer, first, last);
        if !whole || !open || !self.gaps_fit(answer, first, last) {
            return None;
        }
        let certainty = self.certainty(answer, endings, first, last)?;
        Some(Named { first, last, certainty })
    }

    /// A sentence end or a comma may occur inside a match only if the name has one.
    fn gaps_fit(&self, answer: &Written<'_>, first: usize, last: usize) -> bool {
        let pieces = &answer.reading.pieces;
        (first + 1..=last).all(|at| {
            let between = &answer.text[pieces[at - 1].end as usize..pieces[at].start as usize];
            let parted = || between.contains([',', ';']) || pieces[at].gap == Gap::Break;
            between.len() <= 6 && (self.has_comma || !parted())
        })
    }
}

/// Names with at least this many ideographs are not part of another word by chance.
const LONG_SIGNS: usize = 4;

/// True when the match is part of a longer identifier or name.
fn is_inside(name: &Name, answer: &Written<'_>, first: usize, last: usize) -> bool {
    let pieces = &answer.reading.pieces;
    let (one, next) = (&pieces[first], pieces.get(last + 1));
    let strict_hyphen = name.is_one_word()
        || (name.has_hyphen && name.is_identifier)
        || matches!(name.part, Part::Tail(_))
        || pieces[last].sort != Sort::Letters;
    // "Falcon v3" does not match "Falcon v3.5". ("3.5" alone is one token.)
    let goes_on = next.is_some_and(|n| n.gap == Gap::Dot && n.sort == Sort::Number)
        && matches!(pieces[last].sort, Sort::Number | Sort::Mixed);
    let joins = |a: &Piece, b: &Piece| match b.gap {
        Gap::None if a.sort == Sort::Sign || b.sort == Sort::Sign => signs_join(name, answer, a, b),
        Gap::None | Gap::Underscore => true,
        Gap::Hyphen => strict_hyphen,
        Gap::Dot | Gap::Apostrophe | Gap::Tight | Gap::Space | Gap::Break => false,
    };
    let before = first > 0 && joins(&pieces[first - 1], one);
    let after = next.is_some_and(|next| joins(&pieces[last], next));
    before || after || goes_on || is_in_a_longer_name(name, answer, last)
}

/// "Premium" does not match "Premium Plus", nor "Skarv 2" "Skarv 2 GT".
fn is_in_a_longer_name(name: &Name, answer: &Written<'_>, last: usize) -> bool {
    let pieces = &answer.reading.pieces;
    let Some(next) = pieces.get(last + 1).filter(|next| next.gap == Gap::Space) else {
        return false;
    };
    let between = &answer.text[pieces[last].end as usize..next.start as usize];
    let names_more = match next.sort {
        Sort::Letters | Sort::Mixed => next.capital && !lexicon().is_common(next.hash),
        Sort::Number => pieces[last].sort == Sort::Letters && name.is_one_word(),
        Sort::Sign => false,
    };
    between == " "
        && names_more
        && pieces[last].capital | (pieces[last].sort != Sort::Letters)
        && answer.kind == AnswerKind::Response
        && (!answer.many_capitals || next.sort == Sort::Number)
}

/// Scripts; a script change ends a word in languages without spaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Ideograph,
    Other,
}

/// True when two neighbouring tokens may belong to one word. 京都 does not match 東京都, nor サービス
/// ログインサービス. Without word segmentation, a word may also end at a particle, and long ideograph names
/// always match.
fn signs_join(name: &Name, answer: &Written<'_>, a: &Piece, b: &Piece) -> bool {
    let (one, other) = (script_of(answer, a), script_of(answer, b));
    if one != other {
        return false;
    }
    let particle = |piece: &Piece| lists().particles.contains(&piece.hash);
    match one {
        Script::Katakana => true,
        Script::Ideograph => name.pieces().len() < LONG_SIGNS && !particle(a) && !particle(b),
        Script::Hiragana | Script::Other => false,
    }
}

fn script_of(answer: &Written<'_>, piece: &Piece) -> Script {
    let first = answer.reading.word(piece).chars().next().map_or(0, u32::from);
    match (piece.sort, first) {
        (Sort::Sign, 0x3040..=0x309F) => Script::Hiragana,
        (Sort::Sign, 0x30A0..=0x30FF | 0xFF66..=0xFF9D) => Script::Katakana,
        (Sort::Sign, _) => Script::Ideograph,
        (Sort::Letters | Sort::Number | Sort::Mixed, _) => Script::Other,
    }
}
