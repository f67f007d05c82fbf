//! The words of a turn that can tell what it is about.

use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;

use crate::ranking::{stem_word, stop_words};

/// Words by which people complain about any answer. They say that something is wrong, not what.
const COMPLAINING: &str = "no not nope nah wrong incorrect bad false error errors mistake broken useless terrible awful \
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

/// Words of a text that are read; the rest of a pasted page says no more.
const MOST_WORDS: usize = 200;
const SHORTEST: usize = 2;
/// Longer ones are no words.
const LONGEST: usize = 40;

/// A word that carries meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContentWord {
    /// Where it stands among all words of the text: neighbours differ by one.
    pub(crate) place: usize,
    /// As written, in lower case.
    pub(crate) word: String,
    /// Without its ending.
    pub(crate) stem: String,
}

/// The words of a text that carry meaning, in order.
pub(crate) fn content_words(text: &str) -> Vec<ContentWord> {
    let lower = text.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’' && c != '_')
        .map(|word| word.trim_matches(['\'', '’', '_']))
        .map(|word| word.strip_suffix("'s").or(word.strip_suffix("’s")).unwrap_or(word))
        .filter(|word| !word.is_empty());
    words
        .take(MOST_WORDS)
        .enumerate()
        .filter(|(_, word)| carries_meaning(word))
        .map(|(place, word)| ContentWord {
            place,
            word: word.to_owned(),
            stem: stem_word(word).to_owned(),
        })
        .collect()
}

/// The words of a text that can tell what it is about, in lower case.
pub fn telling_words(text: &str) -> Vec<String> {
    content_words(text).into_iter().map(|word| word.word).collect()
}

/// The stems of a text.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    content_words(text).into_iter().map(|word| word.stem).collect()
}

pub(super) fn carries_meaning(word: &str) -> bool {
    static STOPPED: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let stopped =
        STOPPED.get_or_init(|| stop_words().chain(COMPLAINING.split_whitespace()).collect());
    let number = word.chars().all(|c| c.is_ascii_digit());
    let long_enough = word.len() > SHORTEST || !word.is_ascii();
    !number && long_enough && word.len() <= LONGEST && !stopped.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_with_a_meaning_are_kept() {
        let rows: &[(&str, &[&str])] = &[
            ("No, that's wrong!", &[]),
            ("completed orders only", &["completed", "orders"]),
            ("I meant the customer's address", &["customer", "address"]),
            ("42 of 7", &[]),
            ("", &[]),
            ("Bestellungen, nicht Rechnungen", &["bestellungen", "rechnungen"]),
        ];
        for (text, expected) in rows {
            assert_eq!(telling_words(text), *expected, "{text}");
        }
    }

    #[test]
    fn neighbours_can_be_told_from_words_with_something_between() {
        let places: Vec<usize> =
            content_words("completed orders of the region").iter().map(|w| w.place).collect();
        assert_eq!(places, [0, 1, 4]);
    }
}
