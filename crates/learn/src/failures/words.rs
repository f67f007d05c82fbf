//! Content words: the words that describe the subject of a text.

use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;

use crate::ranking::{stem_word, stop_words};

/// Words used in complaints about any answer. They do not describe the problem.
const COMPLAINT_STOP_WORDS: &str = "no not nope nah wrong incorrect bad false error errors mistake broken useless terrible awful \
    stupid still again meant mean wanted wants want asked ask asking said say says answer answers answered response \
    respond result results question questions query should shouldn't must instead only just actually really again \
    isn't doesn't don't didn't wasn't can't won't i'm i've i'd it's that's correct right fix fixed redo retry try tried \
    one ones thing things stuff something anything nothing like please sorry wait why also too very more less than \
    because count counted include included includes use used using uses see look looking got gets getting went go give \
    gave given were has had being them they he she his her their nein nicht kein keine falsch sondern nur doch non pas \
    faux mal mauvais mais no malo sino pero errado não mas niet geen fout maar sbagliato ma solo never always what's \
    how's where's i'll you're your yours mine let lets into out up down off over under per each every all \
    help helps helped helpful unhelpful useful work works worked working understand understood sense make makes \
    need needs needed know expected expect tell told at completely totally forgot forget forgotten missing missed \
    excluding exclude excluded without ignore ignored ignoring already supposed";

const MAX_WORDS: usize = 200;
const MAX_SHORT_WORD_BYTES: usize = 2;
/// Longer tokens are not words.
const MAX_WORD_BYTES: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContentWord {
    /// Index among all words of the text; adjacent words differ by one.
    pub(crate) position: usize,
    pub(crate) word: String,
    pub(crate) stem: String,
}

pub(crate) fn extract_content_words(text: &str) -> Vec<ContentWord> {
    let lower = text.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’' && c != '_')
        .map(|word| word.trim_matches(['\'', '’', '_']))
        .map(|word| word.strip_suffix("'s").or(word.strip_suffix("’s")).unwrap_or(word))
        .filter(|word| !word.is_empty());
    words
        .take(MAX_WORDS)
        .enumerate()
        .filter(|(_, word)| is_content_word(word))
        .map(|(place, word)| ContentWord {
            position: place,
            word: word.to_owned(),
            stem: stem_word(word).to_owned(),
        })
        .collect()
}

/// Lower-case content words in text order.
pub fn extract_keywords(text: &str) -> Vec<String> {
    extract_content_words(text).into_iter().map(|word| word.word).collect()
}

pub(super) fn extract_stems(text: &str) -> BTreeSet<String> {
    extract_content_words(text).into_iter().map(|word| word.stem).collect()
}

pub(super) fn is_content_word(word: &str) -> bool {
    static STOP_WORDS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let stop_words = STOP_WORDS
        .get_or_init(|| stop_words().chain(COMPLAINT_STOP_WORDS.split_whitespace()).collect());
    let number = word.chars().all(|c| c.is_ascii_digit());
    let long_enough = word.len() > MAX_SHORT_WORD_BYTES || !word.is_ascii();
    !number && long_enough && word.len() <= MAX_WORD_BYTES && !stop_words.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_words_exclude_stop_words_and_numbers() {
        let rows: &[(&str, &[&str])] = &[
            ("No, that's wrong!", &[]),
            ("completed orders only", &["completed", "orders"]),
            ("I meant the customer's address", &["customer", "address"]),
            ("42 of 7", &[]),
            ("", &[]),
            ("Bestellungen, nicht Rechnungen", &["bestellungen", "rechnungen"]),
        ];
        for (text, expected) in rows {
            assert_eq!(extract_keywords(text), *expected, "{text}");
        }
    }

    #[test]
    fn content_words_record_their_positions() {
        let places: Vec<usize> = extract_content_words("completed orders of the region")
            .iter()
            .map(|w| w.position)
            .collect();
        assert_eq!(places, [0, 1, 4]);
    }
}
