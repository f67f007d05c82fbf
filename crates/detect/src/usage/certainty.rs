//! Rates how certainly matched words are meant as the item's name.

use super::layout::is_in_comment;
use super::name::{Name, Part, Tail};
use super::name_endings::Endings;
use super::parsed_answer::{AnswerKind, Written};
use super::tokenizer::{Gap, Sort};
use super::weight::is_known_word;
use super::word_lists::lists;

/// Unknown words with at least this many letters are distinctive alone.
const LONG_WORD: u32 = 14;
/// Names with at least this many words rarely match by chance.
const MANY_WORDS: usize = 5;

/// Certainty of a name match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// Everyday words that could mean anything.
    Common,
    /// Rare words, or words written as a name.
    Likely,
    /// Distinctive: hardly anything else has this name.
    Sure,
}

impl Name {
    /// Certainty of a match at the given tokens; `None` when the words mean something else.
    pub(super) fn certainty(
        &self,
        answer: &Written<'_>,
        endings: &Endings,
        first: usize,
        last: usize,
    ) -> Option<Certainty> {
        let plain = self.plain_certainty(answer, first, last);
        match &self.part {
            Part::Whole if self.is_file_of_every_project() => Some(Certainty::Common),
            Part::Whole => Some(plain),
            Part::Head => {
                let proper = answer.reading.pieces[first].capital && plain > Certainty::Common;
                proper.then_some(Certainty::Likely)
            }
            Part::Title => endings.is_one(self, self.first).then_some(plain),
            Part::Tail(tail) => self.tail_certainty(tail, plain, answer, endings, (first, last)),
        }
    }

    fn plain_certainty(&self, answer: &Written<'_>, first: usize, last: usize) -> Certainty {
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
        let count = self.pieces().len();
        let telling =
            (count >= 3 && self.weight >= 1.4) || (count >= MANY_WORDS && self.weight >= 1.0);
        if telling || proper {
            return Certainty::Sure;
        }
        if self.weight >= 1.0 { Certainty::Likely } else { Certainty::Common }
    }

    /// Certainty of a match on the last part of a path, such as `login.py`.
    ///
    /// It needs to be unique among the items, and the answer must not place it in another folder.
    /// An everyday word needs the preceding part.
    fn tail_certainty(
        &self,
        tail: &Tail,
        plain: Certainty,
        answer: &Written<'_>,
        endings: &Endings,
        (first, last): (usize, usize),
    ) -> Option<Certainty> {
        let pieces = &answer.reading.pieces;
        let (start, end) = (pieces[first].start as usize, pieces[last].end as usize);
        let same_file = |file: &String| answer.text[start..end].eq_ignore_ascii_case(file);
        let context = self.context(tail, answer, first)?;
        let reach = context.parts.checked_sub(1).map_or(self.first, |at| tail.before[at]);
        if !endings.is_one(self, reach) || !tail.file.as_ref().is_none_or(same_file) {
            return None;
        }
        if context.parts > 0 && (tail.file.is_some() || !self.is_one_word()) {
            return Some(Certainty::Sure);
        }
        if tail.is_ordinary {
            return None;
        }
        if tail.file.is_some() {
            return Some(Certainty::Sure);
        }
        if self.is_one_word() {
            let word = is_known_word(self.joined());
            return match (word, context.pieces) {
                (_, 1..) => Some(Certainty::Likely),
                (false, 0) => Some(plain.min(Certainty::Likely)),
                (true, 0) => (plain > Certainty::Common).then_some(Certainty::Common),
            };
        }
        Some(if plain == Certainty::Sure { plain } else { Certainty::Common })
    }

    /// The part of the path that the answer has before the tail; `None` when it has another path.
    fn context(&self, tail: &Tail, answer: &Written<'_>, first: usize) -> Option<Context> {
        let own = &self.reading.pieces;
        let there = &answer.reading.pieces;
        let mut same = 0;
        while same < self.first && same < first {
            let glue = there[first - same].gap;
            let between = {
                let (a, b) = (&there[first - same - 1], &there[first - same]);
                &answer.text[a.end as usize..b.start as usize]
            };
            let glued = match glue {
                Gap::None | Gap::Underscore | Gap::Hyphen | Gap::Dot => true,
                Gap::Tight => matches!(between, "/" | "\\" | "::" | "#" | "->" | "/_" | "::_"),
                Gap::Apostrophe | Gap::Space | Gap::Break => false,
            };
            if !glued {
                break;
            }
            if there[first - same - 1].hash != own[self.first - same - 1].hash {
                // In `client.settle_batch()` the word before the dot is an arbitrary variable name.
                let is_variable = same == 0 && glue == Gap::Dot && tail.file.is_none();
                if is_variable && (!self.is_one_word() || self.owner_is_there(tail, answer)) {
                    return Some(Context { parts: 0, pieces: usize::from(self.is_one_word()) });
                }
                return None;
            }
            same += 1;
        }
        let reached = self.first - same;
        let parts = tail.before.iter().filter(|start| **start >= reached).count();
        Some(Context { parts, pieces: same })
    }

    /// True when the answer names the class elsewhere: `gateway = PaymentGateway()`.
    fn owner_is_there(&self, tail: &Tail, answer: &Written<'_>) -> bool {
        let Some(start) = tail.before.first() else { return false };
        let owner = &self.reading.pieces[*start..self.first];
        let (Some(from), Some(to)) = (owner.first(), owner.last()) else { return false };
        let joined = &self.reading.folded[from.from as usize..to.to as usize];
        let telling = owner.len() > 1 || !is_known_word(joined);
        telling && answer.places.saying(&answer.reading, joined).next().is_some()
    }

    fn certainty_of_a_word(&self, answer: &Written<'_>, at: usize) -> Certainty {
        let piece = &answer.reading.pieces[at];
        // A hyphenated compound counts as one word.
        let length = self.joined().len() as u32;
        let unknown = !is_known_word(self.joined());
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

    /// True for files that exist in every project: `README.md`.
    fn is_file_of_every_project(&self) -> bool {
        let pieces = self.pieces();
        let is_file = |ending: &str| lists().file_endings.contains(ending);
        let stem = match pieces {
            [_] => self.last,
            [.., ending] if ending.gap == Gap::Dot && is_file(self.reading.word(ending)) => {
                self.last - 1
            }
            _ => return false,
        };
        let from = self.reading.pieces[self.first].from as usize;
        let joined = &self.reading.folded[from..self.reading.pieces[stem].to as usize];
        lists().every_project.contains(&crate::text::hash(0, joined.as_bytes()))
    }
}

/// Path context before a matched tail.
struct Context {
    /// Matching path components.
    parts: usize,
    /// Matching tokens.
    pieces: usize,
}

/// True in code, or with a capital where only names have one.
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
