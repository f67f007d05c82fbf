//! Places the wanted phrase next to the words that it shares with the query.

use super::query::{Query, TextEdit, ends_with};
use crate::planner::words::{Word, contains_word, phrase_text};

/// The wanted and the unwanted phrase, without function words around them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContrastSides<'a> {
    pub(super) wanted: &'a [Word<'a>],
    pub(super) unwanted: &'a [Word<'a>],
}

impl<'a> ContrastSides<'a> {
    pub(super) fn new(wants: &'a [Word<'a>], instead_of: &'a [Word<'a>]) -> Self {
        let (wanted, mut unwanted) = (trim_function_words(wants), trim_function_words(instead_of));
        // "for gaming, not for business" arrives as "gaming" and "for business".
        let starts_alike = |first: &Word<'_>| wanted.first().is_some_and(|w| w.matches(first));
        while let [first, rest @ ..] = unwanted {
            if !first.is_linking_preposition() || starts_alike(first) {
                break;
            }
            unwanted = trim_function_words(rest);
        }
        Self { wanted, unwanted }
    }

    /// Content words of the wanted side only.
    pub(super) fn only_wanted(&self) -> impl Iterator<Item = &'a Word<'a>> {
        let unwanted = self.unwanted;
        self.wanted.iter().filter(move |word| word.is_content() && !contains_word(unwanted, word))
    }

    /// Content words of the unwanted side only.
    pub(super) fn only_unwanted(&self) -> impl Iterator<Item = &'a Word<'a>> {
        let wanted = self.wanted;
        self.unwanted.iter().filter(move |word| word.is_content() && !contains_word(wanted, word))
    }

    /// Both sides without their shared first and last words.
    pub(super) fn differing_parts(&self) -> (&'a [Word<'a>], &'a [Word<'a>]) {
        let (before, after) = (self.shared_start(), self.shared_end());
        let inner = |side: &'a [Word<'a>]| side.get(before..side.len() - after).unwrap_or_default();
        (inner(self.wanted), inner(self.unwanted))
    }

    fn shared_start(&self) -> usize {
        let pairs = self.wanted.iter().zip(self.unwanted);
        pairs.take_while(|(a, b)| a.matches(b)).count()
    }

    fn shared_end(&self) -> usize {
        let max = self.wanted.len().min(self.unwanted.len()) - self.shared_start();
        let pairs = self.wanted.iter().rev().zip(self.unwanted.iter().rev());
        pairs.take(max).take_while(|(a, b)| a.matches(b)).count()
    }
}

fn trim_function_words<'a>(words: &'a [Word<'a>]) -> &'a [Word<'a>] {
    let start = words.iter().take_while(|w| w.is_function_word()).count();
    let kept = words.get(start..).unwrap_or_default();
    let end = kept.iter().rev().take_while(|w| w.is_function_word()).count();
    kept.get(..kept.len() - end).unwrap_or_default()
}

impl Query<'_> {
    /// Inserts the wanted words before the shared end, or else after the shared start.
    ///
    /// Example: "laptops under $1000" with "gaming laptops, not business laptops".
    pub(super) fn insert_beside_shared(&self, sides: &ContrastSides<'_>) -> Option<String> {
        let (new, _) = sides.differing_parts();
        let is_new = new.iter().filter(|w| w.is_content()).all(|w| !contains_word(&self.words, w));
        if new.is_empty() || !is_new {
            return None;
        }
        let text = phrase_text(new);
        let shared = sides.wanted.get(sides.wanted.len() - sides.shared_end()..)?;
        if let Some(at) = self.find_shared_end(shared) {
            let start = self.words.get(at)?.start;
            return self.replace_range(start..start, format!("{text} "));
        }
        let shared_start = sides.wanted.get(..sides.shared_start())?;
        shared_start.last().filter(|word| word.is_content())?;
        let at = self.find_phrase(shared_start)?;
        let end = self.words.get(at + shared_start.len() - 1)?.end;
        self.replace_range(end..end, format!(" {text}"))
    }

    /// Finds the shared end in the query, whole or by its last word.
    fn find_shared_end(&self, shared: &[Word<'_>]) -> Option<usize> {
        let last = shared.last().filter(|word| word.is_content())?;
        self.find_phrase(shared).or_else(|| self.find_phrase(std::slice::from_ref(last)))
    }

    /// Extends the part of the wanted phrase that the query has: "laptops" becomes "gaming
    /// laptops".
    pub(super) fn overlay_wanted(&self, wanted: &[Word<'_>]) -> Option<String> {
        let noun = wanted.iter().position(Word::is_preposition).unwrap_or(wanted.len());
        let (noun, suffix) = wanted.split_at(noun);
        noun.last().filter(|head| head.is_content())?;
        let (at, n) = (1..=noun.len()).rev().find_map(|n| {
            let end = noun.get(noun.len() - n..)?;
            self.find_phrase(end).map(|at| (at, n))
        })?;
        let prefix = noun.get(..noun.len() - n)?;
        let mut edits = Vec::new();
        if !prefix.is_empty() {
            edits.push(self.insert_before(at, prefix)?);
        }
        if !suffix.is_empty() {
            edits.push(self.insert_after(at + n, suffix)?);
        }
        let mut added = prefix.iter().chain(suffix).filter(|word| word.is_content());
        if self.repeats_outside(&edits, &mut added) { None } else { self.apply_edits(&edits) }
    }

    /// Puts modifiers before a noun and replaces equal ones that are there already.
    fn insert_before(&self, at: usize, prefix: &[Word<'_>]) -> Option<TextEdit> {
        let before = self.words.get(..at)?;
        let same = (0..=prefix.len()).rev().find(|n| ends_with(before, prefix.get(..*n)))?;
        // "top 10 products" with "20 products": a number replaces a number.
        let ends_in_number = |words: &[Word<'_>]| words.last().is_some_and(Word::is_number);
        let replaces_number = ends_in_number(prefix) && ends_in_number(before);
        let first = at - same.max(usize::from(replaces_number));
        let (start, end) = (self.words.get(first)?.start, self.words.get(at)?.start);
        Some(TextEdit { range: start..end, text: format!("{} ", phrase_text(prefix)) })
    }

    /// Appends a prepositional phrase such as "with a good keyboard".
    ///
    /// When the query already has the preposition, only a final word or a number can be replaced.
    fn insert_after(&self, at: usize, suffix: &[Word<'_>]) -> Option<TextEdit> {
        let (preposition, rest) = suffix.split_first()?;
        let Some(place) = self.words.iter().position(|word| word.matches(preposition)) else {
            let end = self.words.get(at - 1)?.end;
            return Some(TextEdit { range: end..end, text: format!(" {}", phrase_text(suffix)) });
        };
        let ([new], old) = (rest, self.words.get(place + 1)?) else { return None };
        let last = place + 2 == self.words.len();
        let exchangeable = place + 1 > at && (last || (new.is_number() && old.is_number()));
        let edit = TextEdit { range: old.start..old.end, text: phrase_text(rest).to_owned() };
        exchangeable.then_some(edit)
    }
}
