//! Word sets: stop words, question words, negations and opposites.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::text::hash;

/// One set per line, as `name: words`.
const SETS: &str = include_str!("phrases/words.txt");

pub(crate) fn words_of(name: &str) -> impl Iterator<Item = &'static str> {
    let line = SETS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_default().split(' ')
}

pub(crate) struct Lexicon {
    common: FxHashSet<u32>,
    asking: FxHashSet<u32>,
    negating: FxHashSet<u32>,
    opposites: FxHashMap<u32, Vec<u32>>,
}

pub(crate) fn lexicon() -> &'static Lexicon {
    static READ: OnceLock<Lexicon> = OnceLock::new();
    READ.get_or_init(|| {
        let set = |name: &str| words_of(name).map(|w| hash(0, w.as_bytes())).collect();
        let mut opposites: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (one, other) in words_of("opposites").filter_map(|pair| pair.split_once('/')) {
            let (one, other) = (hash(0, one.as_bytes()), hash(0, other.as_bytes()));
            opposites.entry(one).or_default().push(other);
            opposites.entry(other).or_default().push(one);
        }
        Lexicon {
            common: set("common"),
            asking: set("asking"),
            negating: set("negating"),
            opposites,
        }
    })
}

impl Lexicon {
    pub(crate) fn is_common(&self, word: u32) -> bool {
        self.common.contains(&word)
    }

    pub(crate) fn asks(&self, word: u32) -> bool {
        self.asking.contains(&word)
    }

    pub(crate) fn negates(&self, word: u32) -> bool {
        self.negating.contains(&word)
    }

    pub(crate) fn has_opposite(&self, word: u32) -> bool {
        self.opposites.contains_key(&word)
    }

    pub(crate) fn are_opposites(&self, one: u32, other: u32) -> bool {
        self.opposites.get(&one).is_some_and(|all| all.contains(&other))
    }
}
