//! Lists behind use detection, as data: formulas anybody writes, names every platform has, and how an
//! answer says that it only repeats the question or found nothing.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

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
    /// Identifiers, folded, that belong to a platform and to no item.
    pub(super) platform: FxHashSet<u32>,
    /// What a number in brackets counts when it stands before it: a step, a key, a page.
    pub(super) counted: FxHashSet<&'static str>,
    /// Words before several numbers that are values.
    pub(super) filled: FxHashSet<&'static str>,
    /// Words before the number of a source.
    pub(super) numbered: FxHashSet<&'static str>,
    echoes: Vec<Vec<u32>>,
    nothing_found: Vec<Vec<u32>>,
    sources: FxHashSet<u32>,
    negations: FxHashSet<u32>,
}

pub(super) fn lists() -> &'static Lists {
    static READ: OnceLock<Lists> = OnceLock::new();
    READ.get_or_init(|| Lists {
        formulas: FORMULAS.lines().flat_map(|line| runs_of(&hashes(line))).collect(),
        keywords: words("keywords").collect(),
        code_words: words("code words").collect(),
        platform: set("platform").split(' ').map(joined).collect(),
        counted: set("counted").split(' ').collect(),
        filled: set("filled").split(' ').collect(),
        numbered: set("numbered").split(' ').collect(),
        echoes: phrases("echo"),
        nothing_found: phrases("nothing found"),
        sources: words("sources").collect(),
        negations: words("negations").collect(),
    })
}

impl Lists {
    /// Whether a sentence only repeats what was asked, or says that nothing was found.
    pub(super) fn says_nothing(&self, sentence: &[Piece]) -> bool {
        let said: Vec<u32> = sentence.iter().map(|p| p.hash).collect();
        let opens =
            |phrase: &Vec<u32>| said.windows(phrase.len()).take(2).any(|w| w == &phrase[..]);
        let holds = |phrase: &Vec<u32>| said.windows(phrase.len()).any(|w| w == &phrase[..]);
        let among = |set: &FxHashSet<u32>| said.iter().any(|word| set.contains(word));
        self.echoes.iter().any(opens)
            || self.nothing_found.iter().any(holds)
            || (among(&self.sources) && among(&self.negations))
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

fn phrases(name: &str) -> Vec<Vec<u32>> {
    set(name).split('|').map(hashes).filter(|phrase| !phrase.is_empty()).collect()
}

fn hashes(text: &str) -> Vec<u32> {
    Reading::of(text).pieces.iter().map(|piece| piece.hash).collect()
}

/// The key of an identifier, whatever its separators.
fn joined(identifier: &str) -> u32 {
    crate::text::hash(0, Reading::of(identifier).folded.as_bytes())
}
