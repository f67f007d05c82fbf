//! Places the wanted phrase next to the words that it shares with the query.

use super::text_edit::{TextEdit, apply_edits, ends_with, occurs_outside};
use crate::planner::words::{Word, contains_word, find_phrase, phrase_text};

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

/// Drops articles and pronouns at both ends.
fn trim_function_words<'a>(words: &'a [Word<'a>]) -> &'a [Word<'a>] {
    let start = words.iter().take_while(|w| w.is_function_word()).count();
    let kept = words.get(start..).unwrap_or_default();
    let end = kept.iter().rev().take_while(|w| w.is_function_word()).count();
    kept.get(..kept.len() - end).unwrap_or_default()
}

/// Inserts the wanted words before the shared end, or else after the shared start.
///
/// Example: "laptops under $1000" with "gaming laptops, not business laptops".
pub(super) fn insert_beside_shared(
    query: &str,
    query_words: &[Word<'_>],
    sides: &ContrastSides<'_>,
) -> Option<String> {
    let (new, _) = sides.differing_parts();
    let is_new = new.iter().filter(|w| w.is_content()).all(|w| !contains_word(query_words, w));
    if new.is_empty() || !is_new {
        return None;
    }
    let text = phrase_text(new);
    let shared = sides.wanted.get(sides.wanted.len() - sides.shared_end()..)?;
    if let Some(at) = find_shared_end(query_words, shared) {
        let start = query_words.get(at)?.start;
        return apply_edits(
            query,
            vec![TextEdit { range: start..start, text: format!("{text} ") }],
        );
    }
    let shared_start = sides.wanted.get(..sides.shared_start())?;
    let at = find_phrase(query_words, shared_start, 0)
        .filter(|_| shared_start.last().is_some_and(Word::is_content))?;
    let end = query_words.get(at + shared_start.len() - 1)?.end;
    apply_edits(query, vec![TextEdit { range: end..end, text: format!(" {text}") }])
}

/// Finds the shared end in the query, whole or by its last word.
fn find_shared_end(query_words: &[Word<'_>], shared: &[Word<'_>]) -> Option<usize> {
    let last = shared.last().filter(|word| word.is_content())?;
    find_phrase(query_words, shared, 0)
        .or_else(|| find_phrase(query_words, std::slice::from_ref(last), 0))
}

/// Extends the part of the wanted phrase that the query has: "laptops" becomes "gaming laptops".
pub(super) fn overlay_wanted(
    query: &str,
    query_words: &[Word<'_>],
    wanted: &[Word<'_>],
) -> Option<String> {
    let noun = wanted.iter().position(Word::is_preposition).unwrap_or(wanted.len());
    let (noun, suffix) = wanted.split_at(noun);
    noun.last().filter(|head| head.is_content())?;
    let shared = (1..=noun.len()).rev().find_map(|n| {
        let end = noun.get(noun.len() - n..)?;
        find_phrase(query_words, end, 0).map(|at| (at, n))
    });
    let (at, n) = shared?;
    let prefix = noun.get(..noun.len() - n)?;
    let mut edits = Vec::new();
    if !prefix.is_empty() {
        edits.push(insert_before(query_words, at, prefix)?);
    }
    if !suffix.is_empty() {
        edits.push(insert_after(query_words, at + n, suffix)?);
    }
    let content = |w: &&Word<'_>| w.is_content();
    let repeats = prefix
        .iter()
        .chain(suffix)
        .filter(content)
        .any(|word| occurs_outside(&edits, query_words, word));
    if repeats { None } else { apply_edits(query, edits) }
}

/// Puts modifiers before a noun and replaces equal ones that are there already.
fn insert_before(query_words: &[Word<'_>], at: usize, prefix: &[Word<'_>]) -> Option<TextEdit> {
    let before = query_words.get(..at)?;
    let same = (0..=prefix.len()).rev().find(|n| ends_with(before, prefix.get(..*n)))?;
    // "top 10 products" with "20 products": a number replaces a number.
    let replaces_number =
        prefix.last().is_some_and(Word::is_number) && before.last().is_some_and(Word::is_number);
    let first = at - same.max(usize::from(replaces_number));
    let (start, end) = (query_words.get(first)?.start, query_words.get(at)?.start);
    Some(TextEdit { range: start..end, text: format!("{} ", phrase_text(prefix)) })
}

/// Appends a prepositional phrase such as "with a good keyboard".
///
/// When the query already has the preposition, only a final word or a number can be replaced.
fn insert_after(query_words: &[Word<'_>], at: usize, suffix: &[Word<'_>]) -> Option<TextEdit> {
    let (preposition, rest) = suffix.split_first()?;
    let Some(place) = query_words.iter().position(|word| word.matches(preposition)) else {
        let end = query_words.get(at - 1)?.end;
        return Some(TextEdit { range: end..end, text: format!(" {}", phrase_text(suffix)) });
    };
    let ([new], old) = (rest, query_words.get(place + 1)?) else { return None };
    let last = place + 2 == query_words.len();
    let exchangeable = place + 1 > at && (last || (new.is_number() && old.is_number()));
    let edit = TextEdit { range: old.start..old.end, text: phrase_text(rest).to_owned() };
    exchangeable.then_some(edit)
}
