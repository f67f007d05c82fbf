//! Word lists of use detection, loaded from data files.

use std::sync::LazyLock;

use model::hash::GOLDEN_GAMMA;
use rustc_hash::{FxHashMap, FxHashSet};

use super::tokenizer::TokenizedText;
use crate::lexicon::find_set;
use crate::phrases::PhraseIndex;

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
    question_echoes: PhraseIndex<()>,
    nothing_found: PhraseIndex<()>,
    source_nouns: FxHashSet<u32>,
    negations: FxHashSet<u32>,
    pub(super) sql_keywords: FxHashSet<u32>,
    /// "table" and "view" in several languages.
    pub(super) table_words: FxHashSet<u32>,
    /// Hashes of the digits of a written number: "three" to "3".
    pub(super) number_words: FxHashMap<u32, u32>,
}

pub(super) fn word_lists() -> &'static WordLists {
    static LOADED: LazyLock<WordLists> = LazyLock::new(|| WordLists {
        formulas: FORMULAS.lines().flat_map(hash_formula).collect(),
        keywords: hash_words("keywords").collect(),
        code_words: hash_words("code words").collect(),
        everyday: hash_words("everyday").collect(),
        particles: hash_words("particles").collect(),
        common_files: split_set("every project").map(hash_identifier).collect(),
        file_endings: split_set("file endings").collect(),
        platform: split_set("platform").map(hash_identifier).collect(),
        counted_words: split_set("counted").collect(),
        value_words: split_set("filled").collect(),
        source_words: split_set("numbered").collect(),
        conjunctions: split_set("joining").collect(),
        explanation_verbs: split_set("explaining").collect(),
        source_headings: split_set("headings").collect(),
        question_echoes: index_phrases("echo"),
        nothing_found: index_phrases("nothing found"),
        source_nouns: hash_words("sources").collect(),
        negations: hash_words("negations").collect(),
        sql_keywords: hash_words("sql keywords").collect(),
        table_words: hash_words("table words").collect(),
        number_words: split_set("number words").filter_map(hash_number_word).collect(),
    });
    &LOADED
}

fn hash_formula(line: &str) -> Vec<u64> {
    hash_tokens(line).windows(FORMULA_WORDS).map(hash_run).collect()
}

impl WordLists {
    /// True when a sentence only repeats the question or says that nothing was found.
    pub(super) fn is_uninformative(&self, sentence: &[u32]) -> bool {
        let among = |set: &FxHashSet<u32>| sentence.iter().any(|word| set.contains(word));
        let occurs = |phrases: &PhraseIndex<()>, at: usize| {
            phrases.match_start(&sentence[at..]).next().is_some()
        };
        (0..sentence.len().min(2)).any(|at| occurs(&self.question_echoes, at))
            || (0..sentence.len()).any(|at| occurs(&self.nothing_found, at))
            || (among(&self.source_nouns) && among(&self.negations))
    }
}

pub(super) fn hash_run(words: &[u32]) -> u64 {
    let mix = |key: u64, word: &u32| (key ^ u64::from(*word)).wrapping_mul(GOLDEN_GAMMA);
    words.iter().fold(0, |key, word| mix(key, word).rotate_left(23))
}

fn index_phrases(name: &str) -> PhraseIndex<()> {
    let phrases = find_set(WORD_SETS, name).split('|');
    PhraseIndex::new(phrases.map(|phrase| (hash_tokens(phrase).into(), ())))
}

fn split_set(name: &str) -> impl Iterator<Item = &'static str> {
    find_set(WORD_SETS, name).split(' ')
}

fn hash_number_word(pair: &str) -> Option<(u32, u32)> {
    let (word, digits) = pair.split_once('/')?;
    Some((crate::text::hash(0, word.as_bytes()), crate::text::hash(0, digits.as_bytes())))
}

fn hash_words(name: &str) -> impl Iterator<Item = u32> {
    split_set(name).flat_map(hash_tokens)
}

fn hash_tokens(text: &str) -> Vec<u32> {
    TokenizedText::new(text).tokens.iter().map(|token| token.hash).collect()
}

/// Key of an identifier, independent of its separators.
fn hash_identifier(identifier: &str) -> u32 {
    crate::text::hash(0, TokenizedText::new(identifier).folded.as_bytes())
}
