//! Finds names in an answer.

use super::border::is_inside;
use super::certainty::Certainty;
use super::name_endings::Endings;
use super::name::Name;
use super::tokenizer::{Gap, Sort};
use super::parsed_answer::Written;

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
