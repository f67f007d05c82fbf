//! Word lists of use detection, loaded from data files.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::tokenizer::{Token, TokenizedText};

/// One formula per line: licence headers, greetings, disclaimers, stock phrases.
const FORMULAS: &str = include_str!("formulas.txt");
/// `set: words`, or phrases separated by bars.
const WORD_SETS: &str = include_str!("sets.txt");
pub(super) const FORMULA_WORDS: usize = 4;

pub(super) struct WordLists {
    /// Keys of the word runs inside formulas.
    pub(super) formulas: FxHashSet<u64>,
    pub(super) keywords: FxHashSet<u32>,
    /// Words common in any program, besides the keywords.
    pub(super) code_words: FxHashSet<u32>,
    /// Everyday software and commerce words that the vocabulary lacks, in several languages.
    pub(super) everyday: FxHashSet<u32>,
    /// Ideographs and kana at which a word may end.
    pub(super) particles: FxHashSet<u32>,
    pub(super) common_files: FxHashSet<u32>,
    pub(super) file_endings: FxHashSet<&'static str>,
    /// Folded identifiers of platforms and libraries.
    pub(super) platform: FxHashSet<u32>,
    /// Words before a bracketed number that make it a step, a key or a page.
    pub(super) counted_words: FxHashSet<&'static str>,
    /// Words before bracketed values.
    pub(super) value_words: FxHashSet<&'static str>,
    pub(super) source_words: FxHashSet<&'static str>,
    pub(super) conjunctions: FxHashSet<&'static str>,
    /// Words after a bracketed label that is explained: `[1] means`.
    pub(super) explanation_verbs: FxHashSet<&'static str>,
    pub(super) source_headings: FxHashSet<&'static str>,
    question_echoes: PhraseSet,
    nothing_found: PhraseSet,
    source_nouns: FxHashSet<u32>,
    negations: FxHashSet<u32>,
}

pub(super) fn word_lists() -> &'static WordLists {
    static LOADED: OnceLock<WordLists> = OnceLock::new();
    LOADED.get_or_init(|| WordLists {
        formulas: FORMULAS.lines().flat_map(|line| hash_runs(&hash_tokens(line))).collect(),
        keywords: hash_words("keywords").collect(),
        code_words: hash_words("code words").collect(),
        everyday: hash_words("everyday").collect(),
        particles: hash_words("particles").collect(),
        common_files: find_set("every project").split(' ').map(hash_identifier).collect(),
        file_endings: find_set("file endings").split(' ').collect(),
        platform: find_set("platform").split(' ').map(hash_identifier).collect(),
        counted_words: find_set("counted").split(' ').collect(),
        value_words: find_set("filled").split(' ').collect(),
        source_words: find_set("numbered").split(' ').collect(),
        conjunctions: find_set("joining").split(' ').collect(),
        explanation_verbs: find_set("explaining").split(' ').collect(),
        source_headings: find_set("headings").split(' ').collect(),
        question_echoes: PhraseSet::load("echo"),
        nothing_found: PhraseSet::load("nothing found"),
        source_nouns: hash_words("sources").collect(),
        negations: hash_words("negations").collect(),
    })
}

impl WordLists {
    /// True when a sentence only repeats the question or says that nothing was found.
    pub(super) fn is_uninformative(&self, sentence: &[Token]) -> bool {
        let among = |set: &FxHashSet<u32>| sentence.iter().any(|word| set.contains(&word.hash));
        let opening = &sentence[..sentence.len().min(2)];
        (0..opening.len()).any(|at| self.question_echoes.matches_start(&sentence[at..]))
            || (0..sentence.len()).any(|at| self.nothing_found.matches_start(&sentence[at..]))
            || (among(&self.source_nouns) && among(&self.negations))
    }
}

struct PhraseSet(FxHashMap<u32, Vec<Vec<u32>>>);

impl PhraseSet {
    fn load(name: &str) -> Self {
        let mut by_first: FxHashMap<u32, Vec<Vec<u32>>> = FxHashMap::default();
        for phrase in find_set(name).split('|').map(hash_tokens) {
            if let Some((first, rest)) = phrase.split_first() {
                by_first.entry(*first).or_default().push(rest.to_vec());
            }
        }
        Self(by_first)
    }

    fn matches_start(&self, words: &[Token]) -> bool {
        let Some((first, rest)) = words.split_first() else { return false };
        let matches_rest = |phrase: &Vec<u32>| {
            phrase.len() <= rest.len() && phrase.iter().zip(rest).all(|(a, b)| *a == b.hash)
        };
        self.0.get(&first.hash).is_some_and(|phrases| phrases.iter().any(matches_rest))
    }
}

pub(super) fn hash_run(words: &[u32]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    words
        .iter()
        .fold(0, |key, word| (key ^ u64::from(*word)).wrapping_mul(MULTIPLIER).rotate_left(23))
}

fn hash_runs(words: &[u32]) -> Vec<u64> {
    words.windows(FORMULA_WORDS).map(hash_run).collect()
}

fn find_set(name: &str) -> &'static str {
    let line = WORD_SETS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_default()
}

fn hash_words(name: &str) -> impl Iterator<Item = u32> {
    find_set(name).split(' ').flat_map(hash_tokens)
}

fn hash_tokens(text: &str) -> Vec<u32> {
    TokenizedText::new(text).tokens.iter().map(|token| token.hash).collect()
}

/// Key of an identifier, independent of its separators.
fn hash_identifier(identifier: &str) -> u32 {
    crate::text::hash(0, TokenizedText::new(identifier).folded.as_bytes())
}
