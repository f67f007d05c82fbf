//! Compares the spelling of two folded words: typos, endings, apostrophes.

use crate::text::stem_word;

/// Letters of the longer word from which one edit is a typo, and of the shorter from which two are.
const MIN_TYPO_LETTERS: usize = 3;
const MIN_DOUBLE_TYPO_LETTERS: usize = 6;
/// The same for two words that are both unknown, because both may be right.
const MIN_UNKNOWN_TYPO_LETTERS: usize = 5;
const MIN_UNKNOWN_DOUBLE_TYPO_LETTERS: usize = 8;
const MIN_SHARED_BEGINNING: usize = 4;
/// Share of the longer word that a shared beginning must cover.
const MIN_BEGINNING_SHARE: f64 = 0.6;
/// The same for words that are not both known.
const MIN_LONG_BEGINNING: usize = 6;
const MIN_LONG_BEGINNING_SHARE: f64 = 0.42;

/// A folded word. A word that the vocabulary knows is no typo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spelled<'a> {
    pub word: &'a str,
    pub is_known: bool,
}

/// True when the words are forms or spellings of one word: "password" and "pasword", "leaf's" and
/// "leafs".
pub(super) fn is_same_word(a: Spelled<'_>, b: Spelled<'_>) -> bool {
    let first = |word: &str| word.chars().next().map(plain_letter);
    if first(a.word) != first(b.word) {
        return false;
    }
    let letters = |word: &str| word.chars().filter(|c| *c != '\'').map(plain_letter).collect();
    let (left, right): (Vec<char>, Vec<char>) = (letters(a.word), letters(b.word));
    if left == right {
        return true;
    }
    if left.len().min(right.len()) < 2 || has_negative_ending(&left) != has_negative_ending(&right)
    {
        return false;
    }
    match (a.is_known, b.is_known) {
        (true, true) => stem_word(a.word) == stem_word(b.word) || has_same_stem(&left, &right),
        (false, false) => {
            stem_word(a.word) == stem_word(b.word)
                || has_same_stem(&left, &right)
                || has_long_stem(&left, &right)
                || is_typo(
                    &left,
                    &right,
                    (MIN_UNKNOWN_TYPO_LETTERS, MIN_UNKNOWN_DOUBLE_TYPO_LETTERS),
                )
        }
        (true, false) | (false, true) => {
            stem_word(a.word) == stem_word(b.word)
                || has_same_stem(&left, &right)
                || has_long_stem(&left, &right)
                || is_typo(&left, &right, (MIN_TYPO_LETTERS, MIN_DOUBLE_TYPO_LETTERS))
                || sounds_alike(&left, &right)
        }
    }
}

/// Letters that people type without their diacritics and that folding keeps.
fn plain_letter(c: char) -> char {
    match c {
        'ı' => 'i',
        'ł' => 'l',
        'ø' => 'o',
        'đ' => 'd',
        'ß' => 's',
        _ => c,
    }
}

/// Endings that turn a word into its opposite.
const NEGATIVE_ENDINGS: [&str; 6] = ["less", "free", "siz", "suz", "los", "frei"];

/// True for a shared beginning that is most of both words, as inflected words have.
fn has_same_stem(a: &[char], b: &[char]) -> bool {
    shares_beginning(a, b, MIN_SHARED_BEGINNING, MIN_BEGINNING_SHARE)
}

/// The same for languages with long endings.
fn has_long_stem(a: &[char], b: &[char]) -> bool {
    shares_beginning(a, b, MIN_LONG_BEGINNING, MIN_LONG_BEGINNING_SHARE)
}

fn shares_beginning(a: &[char], b: &[char], min_letters: usize, min_share: f64) -> bool {
    let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    shared >= min_letters && shared as f64 >= min_share * a.len().max(b.len()) as f64
}

fn has_negative_ending(word: &[char]) -> bool {
    NEGATIVE_ENDINGS.iter().any(|ending| {
        let letters = word.iter().rev().zip(ending.chars().rev());
        word.len() > ending.len() + 1 && letters.clone().all(|(x, y)| *x == y)
    })
}

/// True for one edit in words with so many letters, or two in longer ones. Two exchanged neighbours
/// are one edit.
fn is_typo(a: &[char], b: &[char], (min_letters, min_double): (usize, usize)) -> bool {
    let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    let allowed = if shorter >= min_double { 2 } else { 1 };
    if longer < min_letters || longer - shorter > allowed {
        return false;
    }
    let (a, b): (String, String) = (a.iter().collect(), b.iter().collect());
    strsim::osa_distance(&a, &b) <= allowed
}

/// Consonants that a word needs for its sound to tell it from others.
const MIN_CONSONANTS: usize = 2;
const MAX_LENGTH_DIFFERENCE: usize = 2;

/// True for words with the same consonants: "sez" and "says".
fn sounds_alike(a: &[char], b: &[char]) -> bool {
    let consonants = |word: &[char]| -> Vec<char> {
        let sounds = word.iter().map(|c| match c {
            'z' => 's',
            'c' | 'q' => 'k',
            'v' => 'f',
            _ => *c,
        });
        let mut all: Vec<char> = sounds.filter(|c| !"aeiouyhw".contains(*c)).collect();
        all.dedup();
        all
    };
    let (left, right) = (consonants(a), consonants(b));
    a.len().abs_diff(b.len()) <= MAX_LENGTH_DIFFERENCE
        && left.len() >= MIN_CONSONANTS
        && left == right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_and_endings_keep_the_word() {
        let rows = [
            ("pasword", false, "password", true, true),
            ("recieve", false, "receive", true, true),
            ("printers", true, "printer", true, true),
            ("what's", false, "whats", false, true),
            ("saksida", false, "saksıda", false, true),
            ("rechnungen", false, "rechnung", false, true),
            ("form", true, "from", true, false),
            ("laufen", false, "kaufen", true, false),
            ("parfumlu", false, "parfumsuz", false, false),
            ("cat", true, "car", true, false),
            ("norway", true, "brazil", true, false),
        ];
        for (a, knows_a, b, knows_b, expected) in rows {
            let (a, b) =
                (Spelled { word: a, is_known: knows_a }, Spelled { word: b, is_known: knows_b });
            assert_eq!(is_same_word(a, b), expected, "{a:?} {b:?}");
            assert_eq!(is_same_word(b, a), expected, "{b:?} {a:?}");
        }
    }
}
