//! Lists behind use detection, as data: formulas anybody writes, names every platform has, and how an
//! answer says that it only repeats the question or found nothing.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::reading::{Piece, Reading};

/// A line each: licence headers, greetings, disclaimers, turns of phrase of papers and minutes.
const FORMULAS: &str = include_str!("formulas.txt");
/// `set: words or phrases`, phrases parted by bars.
const SETS: &str = include_str!("sets.txt");
/// Words of a formula that must be there for it to be recognised.
pub(super) const FORMULA_RUN: usize = 4;

pub(super) struct Lists {
    /// Runs of `FORMULA_RUN` words inside formulas.
    pub(super) formulas: FxHashSet<u64>,
    /// Keywords of programming languages and the words of shell sessions.
    pub(super) keywords: FxHashSet<u32>,
    /// Words that stand in any program, beside the keywords.
    pub(super) code_words: FxHashSet<u32>,
    /// Words of software and shops that the vocabulary does not have, in several languages.
    pub(super) everyday: FxHashSet<u32>,
    /// Signs between which and a name a word ends.
    pub(super) particles: FxHashSet<u32>,
    /// Files that every project has, without their endings.
    pub(super) every_project: FxHashSet<u32>,
    /// Endings of file names.
    pub(super) file_endings: FxHashSet<&'static str>,
    /// Identifiers, folded, that belong to a platform and to no item.
    pub(super) platform: FxHashSet<u32>,
    /// What a number in brackets counts when it stands before it: a step, a key, a page.
    pub(super) counted: FxHashSet<&'static str>,
    /// Words before several numbers that are values.
    pub(super) filled: FxHashSet<&'static str>,
    /// Words before the number of a source.
    pub(super) numbered: FxHashSet<&'static str>,
    /// Words between the numbers of sources.
    pub(super) joining: FxHashSet<&'static str>,
    /// Words after a number in brackets that is a label of something and explained: `[1] means`.
    pub(super) explaining: FxHashSet<&'static str>,
    /// Words over a list of sources.
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
    /// Whether a sentence only repeats what was asked, or says that nothing was found.
    pub(super) fn says_nothing(&self, sentence: &[Piece]) -> bool {
        let among = |set: &FxHashSet<u32>| sentence.iter().any(|word| set.contains(&word.hash));
        let opening = &sentence[..sentence.len().min(2)];
        (0..opening.len()).any(|at| self.echoes.begins(&sentence[at..]))
            || (0..sentence.len()).any(|at| self.nothing_found.begins(&sentence[at..]))
            || (among(&self.sources) && among(&self.negations))
    }
}

/// Phrases by their first word.
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

    /// Whether the words begin with one of the phrases.
    fn begins(&self, words: &[Piece]) -> bool {
        let Some((first, rest)) = words.split_first() else { return false };
        let goes_on = |phrase: &Vec<u32>| {
            phrase.len() <= rest.len() && phrase.iter().zip(rest).all(|(a, b)| *a == b.hash)
        };
        self.0.get(&first.hash).is_some_and(|phrases| phrases.iter().any(goes_on))
    }
}

/// The key of a run of words.
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

/// The key of an identifier, whatever its separators.
fn joined(identifier: &str) -> u32 {
    crate::text::hash(0, Reading::of(identifier).folded.as_bytes())
}
