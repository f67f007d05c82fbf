//! Extracts distinctive identifiers: settings, functions, options, addresses, codes.

use rustc_hash::FxHashSet;

use super::tokenizer::{Gap, Piece, Reading, Sort};
use super::word_lists::lists;
use crate::text::hash;

/// Minimum bytes; shorter identifiers match by chance.
const SHORTEST: u32 = 5;
const SHORTEST_MIXED: u32 = 4;
/// Minimum bytes for one identifier to count alone. CamelCase needs more, because it may be a
/// product name.
const LONG: u32 = 10;
const LONG_HUMPS: u32 = 15;

/// An identifier with its inclusive token range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identifier {
    pub(super) key: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    /// Long enough to be evidence alone.
    pub(super) unmistakable: bool,
}

/// Identifiers of a text in order, without those of a platform.
pub(super) fn identifiers_of(text: &str, reading: &Reading) -> Vec<Identifier> {
    let mut found = Vec::new();
    let pieces = &reading.pieces;
    let mut first = 0;
    while first < pieces.len() {
        let mut last = first;
        while pieces.get(last + 1).is_some_and(|p| joins(p.gap)) {
            last += 1;
        }
        collect(text, reading, first, last, &mut found);
        first = last + 1;
    }
    found
}

/// Keys of the identifiers in import lines; they belong to a library.
pub(super) fn imported(text: &str) -> FxHashSet<u32> {
    if !text.contains("import") && !text.contains("#include") && !text.contains("require(") {
        return FxHashSet::default();
    }
    let mut keys = FxHashSet::default();
    for line in text.lines().map(str::trim_start).filter(|line| is_import(line)) {
        let reading = Reading::of(line);
        keys.extend(identifiers_of(line, &reading).iter().map(|found| found.key));
    }
    keys
}

/// True for an import line. The line must have no indentation.
pub(super) fn is_import(line: &str) -> bool {
    let starts = |word: &str| line.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '));
    let code = line.contains(['{', ';', '"', '\'', '<', '*', '.']) || line.split(' ').count() <= 4;
    (starts("import") && code)
        || (starts("from") && line.contains(" import "))
        || line.starts_with("#include")
        || (starts("use") && line.contains("::") && line.trim_end().ends_with(';'))
        || (starts("using") && line.trim_end().ends_with(';'))
        || (line.contains("require(") && starts("const"))
}

fn joins(gap: Gap) -> bool {
    match gap {
        Gap::None | Gap::Underscore | Gap::Hyphen | Gap::Dot => true,
        Gap::Apostrophe | Gap::Tight | Gap::Space | Gap::Break => false,
    }
}

/// Collects a token group joined by hyphens and dots as a whole, and its parts between them.
fn collect(text: &str, reading: &Reading, first: usize, last: usize, found: &mut Vec<Identifier>) {
    let pieces = &reading.pieces[first..=last];
    let before = &text.as_bytes()[..pieces[0].start as usize];
    // The common case: a single word.
    if first == last && pieces[0].sort != Sort::Mixed && !before.ends_with(b"--") {
        return;
    }
    let count = |gap: Gap| pieces[1..].iter().filter(|p| p.gap == gap).count();
    let (hyphens, dots) = (count(Gap::Hyphen), count(Gap::Dot));
    let option = before.ends_with(b"--");
    let address = before.ends_with(b"@");
    let digits = pieces.iter().any(|p| matches!(p.sort, Sort::Mixed | Sort::Number));
    let letters = pieces.iter().any(|p| matches!(p.sort, Sort::Letters | Sort::Mixed));
    let mixed = pieces.iter().any(|p| p.sort == Sort::Mixed);
    let whole = option
        || (dots >= 1 && mixed && letters)
        || (letters && hyphens >= 2)
        || (letters && hyphens == 1 && digits)
        || (dots >= 2 && (letters || dots >= 3))
        || (address && dots >= 1);
    if whole && dots + hyphens > 0 || option {
        keep(reading, first, last, true, found);
    }
    let mut from = first;
    for at in first..=last {
        let ends = at == last || matches!(reading.pieces[at + 1].gap, Gap::Hyphen | Gap::Dot);
        if ends {
            if is_code(&reading.pieces[from..=at]) {
                let snake = reading.pieces[from + 1..=at].iter().any(|p| p.gap == Gap::Underscore);
                let many = at - from >= 2;
                keep(reading, from, at, snake || many, found);
            }
            from = at + 1;
        }
    }
}

/// True for camelCase, snake_case, or letters mixed with digits.
fn is_code(pieces: &[Piece]) -> bool {
    let length: u32 = pieces.iter().map(|p| p.to - p.from).sum();
    match pieces {
        [one] => one.sort == Sort::Mixed && length >= SHORTEST_MIXED,
        _ => {
            let letters = pieces.iter().any(|p| p.sort != Sort::Number && p.sort != Sort::Sign);
            let signs = pieces.iter().any(|p| p.sort == Sort::Sign);
            letters && !signs && length >= SHORTEST
        }
    }
}

fn keep(reading: &Reading, first: usize, last: usize, own: bool, found: &mut Vec<Identifier>) {
    let (from, to) = (reading.pieces[first].from, reading.pieces[last].to);
    let key = hash(0, &reading.folded.as_bytes()[from as usize..to as usize]);
    if lists().platform.contains(&key) {
        return;
    }
    let unmistakable = to - from >= if own { LONG } else { LONG_HUMPS };
    found.push(Identifier { key, first: first as u32, last: last as u32, unmistakable });
}
