//! Words of a text with their byte ranges, and comparison of words.

use super::vocabulary::{FUNCTION_WORDS, LINKING_PREPOSITIONS, MEANINGFUL_PREPOSITIONS};

#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    source: &'a str,
    /// Byte offset of the first byte.
    pub start: usize,
    /// Byte offset after the last byte.
    pub end: usize,
    key: String,
}

impl Word<'_> {
    /// Compares ignoring case and English plural.
    pub(super) fn matches(&self, other: &Word<'_>) -> bool {
        self.key == other.key
            || is_plural(&self.key, &other.key)
            || is_plural(&other.key, &self.key)
    }

    /// Lower-case form without a possessive ending.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn text(&self) -> &str {
        self.source.get(self.start..self.end).unwrap_or_default()
    }

    /// True for articles and pronouns.
    pub(super) fn is_function_word(&self) -> bool {
        FUNCTION_WORDS.contains(&self.key.as_str())
    }

    /// True for a preposition without a meaning of its own.
    pub(super) fn is_linking_preposition(&self) -> bool {
        LINKING_PREPOSITIONS.contains(&self.key.as_str())
    }

    pub(super) fn is_preposition(&self) -> bool {
        self.is_linking_preposition() || MEANINGFUL_PREPOSITIONS.contains(&self.key.as_str())
    }

    /// True for a word that names or describes something.
    pub(super) fn is_content(&self) -> bool {
        !self.is_function_word() && !self.is_preposition()
    }

    /// True for numbers, prices and years.
    pub(super) fn is_number(&self) -> bool {
        let digits = self.key.chars().filter(char::is_ascii_digit).count();
        digits > 0 && digits * 2 >= self.key.chars().count()
    }
}

pub(super) fn split_words(text: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_word_char(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.extend(make_word(text, from, at));
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    found
}

fn is_word_char(c: char) -> bool {
    let combining = ('\u{300}'..='\u{36f}').contains(&c);
    c.is_alphanumeric() || combining || "$€£¥#@%+_^'’-.&".contains(c)
}

/// Builds the word of a byte range, without punctuation at its ends.
fn make_word(source: &str, from: usize, to: usize) -> Option<Word<'_>> {
    let raw = source.get(from..to)?;
    let tail = raw.trim_start_matches(|c| "'’-.&%+".contains(c));
    let start = to - tail.len();
    let text = tail.trim_end_matches(|c| "'’-.&".contains(c));
    let named = text.chars().any(char::is_alphanumeric);
    let lower = text.to_lowercase();
    let key = lower.strip_suffix("'s").or(lower.strip_suffix("’s")).unwrap_or(&lower).to_owned();
    named.then_some(Word { source, start, end: start + text.len(), key })
}

/// English plurals: laptop → laptops, box → boxes, query → queries.
fn is_plural(many: &str, one: &str) -> bool {
    if one.len() < 3 {
        return false;
    }
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| one.ends_with(end));
    match many.strip_prefix(one) {
        Some("s") => !hisses,
        Some("es") => hisses,
        Some(_) => false,
        None => one
            .strip_suffix('y')
            .is_some_and(|stem| many.strip_prefix(stem).is_some_and(|ending| ending == "ies")),
    }
}

/// Source text from the first word to the last.
pub(super) fn phrase_text<'a>(words: &[Word<'a>]) -> &'a str {
    let ends = words.first().zip(words.last());
    ends.and_then(|(first, last)| first.source.get(first.start..last.end)).unwrap_or_default()
}

pub(super) fn is_same_phrase(a: &[Word<'_>], b: &[Word<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.matches(b))
}

pub(super) fn contains_word(words: &[Word<'_>], word: &Word<'_>) -> bool {
    words.iter().any(|other| other.matches(word))
}

/// Index of the first occurrence of a phrase, searched from word `from` on.
pub(super) fn find_phrase(words: &[Word<'_>], wanted: &[Word<'_>], from: usize) -> Option<usize> {
    let windows = words.get(from..)?.windows(wanted.len().max(1));
    windows.enumerate().find(|(_, window)| is_same_phrase(window, wanted)).map(|(at, _)| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_split_strips_sentence_punctuation() {
        let rows = [
            ("No, I'm (really) sure...", "No|I'm|really|sure"),
            ("C++ or C#, under $1,000 at 5%.", "C++|or|C#|under|$1|000|at|5%"),
            ("e-mail 'quoted' -- v1.5", "e-mail|quoted|v1.5"),
            ("… ¿qué? 你好", "qué|你好"),
            ("'- . &", ""),
        ];
        for (text, expected) in rows {
            let found: Vec<&str> =
                split_words(text).iter().map(|w| &text[w.start..w.end]).collect();
            assert_eq!(found.join("|"), expected, "{text}");
        }
    }

    #[test]
    fn singular_and_plural_match_as_one_word() {
        let rows = [
            ("laptop", "Laptops", true),
            ("boxes", "box", true),
            ("query", "queries", true),
            ("company's", "company", true),
            ("plan", "plane", false),
            ("car", "care", false),
            ("as", "a", false),
            ("mass", "mas", false),
            ("month", "monthly", false),
        ];
        for (a, b, expected) in rows {
            assert_eq!(split_words(a)[0].matches(&split_words(b)[0]), expected, "{a} {b}");
            assert_eq!(split_words(b)[0].matches(&split_words(a)[0]), expected, "{b} {a}");
        }
    }
}
