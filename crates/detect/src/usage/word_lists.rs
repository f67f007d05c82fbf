//! Word lists of use detection, loaded from data files.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::tokenizer::{Piece, Reading};

/// One formula per line: licence headers, greetings, disclaimers, stock phrases.
const FORMULAS: &str = include_str!("formulas.txt");
/// `set: words`, or phrases separated by bars.
const SETS: &str = include_str!("sets.txt");
/// Length in words of a formula fragment.
pub(super) const FORMULA_RUN: usize = 4;

pub(super) struct Lists {
    /// Keys of the word runs inside formulas.
    pub(super) formulas: FxHashSet<u64>,
    /// Keywords of programming languages and shells.
    pub(super) keywords: FxHashSet<u32>,
    /// Words common in any program, besides the keywords.
    pub(super) code_words: FxHashSet<u32>,
    /// Everyday software and commerce words that the vocabulary lacks, in several languages.
    pub(super) everyday: FxHashSet<u32>,
    /// Ideographs and kana at which a word may end.
    pub(super) particles: FxHashSet<u32>,
    /// File stems that every project has.
    pub(super) every_project: FxHashSet<u32>,
    pub(super) file_endings: FxHashSet<&'static str>,
    /// Folded identifiers of platforms and libraries.
    pub(super) platform: FxHashSet<u32>,
    /// Words before a bracketed number that make it a step, a key or a page.
    pub(super) counted: FxHashSet<&'static str>,
    /// Words before bracketed values.
    pub(super) filled: FxHashSet<&'static str>,
    /// Words before a source number.
    pub(super) numbered: FxHashSet<&'static str>,
    /// Conjunctions between source numbers.
    pub(super) joining: FxHashSet<&'static str>,
    /// Words after a bracketed label that is explained: `[1] means`.
    pub(super) explaining: FxHashSet<&'static str>,
    /// Headings of a source list.
    pub(super) headings: FxHashSet<&'static str>,
    echoes: Phrases,
    nothing_found: Phrases,
    sources: FxHashSet<u32>,
    negations: FxHashSet<u32>,
}

pub(super) fn lists() -> &'static Lists {
    static READ: OnceLock<Lists> = OnceLock::new();
    READ.get_or_init(|| Lists {
        formulas: FORMULAS.lines().flat_map(|line| runs_of(&hashes(line))).collect(),
        keywords: words("keywords").collect(),
        code_words: words("code words").collect(),
        everyday: words("everyday").collect(),
        particles: words("particles").collect(),
        every_project: set("every project").split(' ').map(joined).collect(),
        file_endings: set("file endings").split(' ').collect(),
        platform: set("platform").split(' ').map(joined).collect(),
        counted: set("counted").split(' ').collect(),
        filled: set("filled").split(' ').collect(),
        numbered: set("numbered").split(' ').collect(),
        joining: set("joining").split(' ').collect(),
        explaining: set("explaining").split(' ').collect(),
        headings: set("headings").split(' ').collect(),
        echoes: Phrases::of("echo"),
        nothing_found: Phrases::of("nothing found"),
        sources: words("sources").collect(),
        negations: words("negations").collect(),
    })
}

impl Lists {
    /// True when a sentence only repeats the question or says that nothing was found.
    pub(super) fn says_nothing(&self, sentence: &[Piece]) -> bool {
        let among = |set: &FxHashSet<u32>| sentence.iter().any(|word| set.contains(&word.hash));
        let opening = &sentence[..sentence.len().min(2)];
        (0..opening.len()).any(|at| self.echoes.begins(&sentence[at..]))
            || (0..sentence.len()).any(|at| self.nothing_found.begins(&sentence[at..]))
            || (among(&self.sources) && among(&self.negations))
    }
}

/// Phrases keyed by their first word.
struct Phrases(FxHashMap<u32, Vec<Vec<u32>>>);

impl Phrases {
    fn of(name: &str) -> Self {
        let mut by_first: FxHashMap<u32, Vec<Vec<u32>>> = FxHashMap::default();
        for phrase in set(name).split('|').map(hashes) {
            if let Some((first, rest)) = phrase.split_first() {
                by_first.entry(*first).or_default().push(rest.to_vec());
            }
        }
        Self(by_first)
    }

    fn begins(&self, words: &[Piece]) -> bool {
        let Some((first, rest)) = words.split_first() else { return false };
        let goes_on = |phrase: &Vec<u32>| {
            phrase.len() <= rest.len() && phrase.iter().zip(rest).all(|(a, b)| *a == b.hash)
        };
        self.0.get(&first.hash).is_some_and(|phrases| phrases.iter().any(goes_on))
    }
}

pub(super) fn run_key(words: &[u32]) -> u64 {
    const STIR: u64 = 0x9e37_79b9_7f4a_7c15;
    words.iter().fold(0, |key, word| (key ^ u64::from(*word)).wrapping_mul(STIR).rotate_left(23))
}

fn runs_of(words: &[u32]) -> Vec<u64> {
    words.windows(FORMULA_RUN).map(run_key).collect()
}

fn set(name: &str) -> &'static str {
    let line = SETS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_default()
}

fn words(name: &str) -> impl Iterator<Item = u32> {
    set(name).split(' ').flat_map(hashes)
}

fn hashes(text: &str) -> Vec<u32> {
    Reading::of(text).pieces.iter().map(|piece| piece.hash).collect()
}

/// Key of an identifier, independent of its separators.
fn joined(identifier: &str) -> u32 {
    crate::text::hash(0, Reading::of(identifier).folded.as_bytes())
}
