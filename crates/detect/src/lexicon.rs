//! Word sets in several languages: stop words, negations, opposites and others.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::text::hash;

/// One set per line, as `name: words`.
const SETS: &str = include_str!("phrases/words.txt");

pub(crate) fn words_in_set(name: &str) -> impl Iterator<Item = &'static str> {
    find_set(SETS, name).split(' ')
}

/// The words or phrases of a line `name: words` in a list file.
pub(crate) fn find_set(sets: &'static str, name: &str) -> &'static str {
    let line = sets.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_default()
}

pub(crate) struct Lexicon {
    stop_words: FxHashSet<u32>,
    pub question_words: FxHashSet<u32>,
    pub negations: FxHashSet<u32>,
    pub opposites: FxHashMap<u32, Vec<u32>>,
    /// Words before the wanted thing in a correction: "No, I meant the".
    pub preamble: FxHashSet<u32>,
    /// Words that judge the answer. They may also belong to the wanted thing ("that model"), so a
    /// clause is skipped only when it has no other words.
    pub judgement: FxHashSet<u32>,
    pub correction_verbs: FxHashSet<u32>,
    /// Words that make such a verb a reminder: "the laptops, as I said yesterday".
    pub reminder: FxHashSet<u32>,
    /// Words after which "mean" is a noun: "the mean", "I need mean".
    pub noun_markers: FxHashSet<u32>,
    pub yes_no_openings: FxHashSet<u32>,
    pub apology: FxHashSet<u32>,
}

pub(crate) fn lexicon() -> &'static Lexicon {
    static LOADED: LazyLock<Lexicon> = LazyLock::new(|| {
        let set = |name: &str| words_in_set(name).map(|w| hash(0, w.as_bytes())).collect();
        let mut opposites: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (one, other) in words_in_set("opposites").filter_map(|pair| pair.split_once('/')) {
            let (one, other) = (hash(0, one.as_bytes()), hash(0, other.as_bytes()));
            opposites.entry(one).or_default().push(other);
            opposites.entry(other).or_default().push(one);
        }
        Lexicon {
            stop_words: set("stop words"),
            question_words: set("question words"),
            negations: set("negations"),
            opposites,
            preamble: set("preamble"),
            judgement: set("judgement"),
            correction_verbs: set("correction verbs"),
            reminder: set("reminder"),
            noun_markers: set("noun markers"),
            yes_no_openings: set("yes/no openings"),
            apology: set("apology"),
        }
    });
    &LOADED
}

impl Lexicon {
    pub(crate) fn is_stop_word(&self, word: u32) -> bool {
        self.stop_words.contains(&word)
    }

    pub(crate) fn are_opposites(&self, one: u32, other: u32) -> bool {
        self.opposites.get(&one).is_some_and(|all| all.contains(&other))
    }
}
