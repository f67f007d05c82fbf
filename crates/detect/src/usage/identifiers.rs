//! Extracts distinctive identifiers: settings, functions, options, addresses, codes.

use rustc_hash::FxHashSet;

use super::tokenizer::{Gap, Token, TokenKind, TokenizedText};
use super::word_lists::word_lists;
use crate::text::hash;

/// Minimum bytes; shorter identifiers match by chance.
const MIN_IDENTIFIER_BYTES: u32 = 5;
const MIN_MIXED_BYTES: u32 = 4;
/// Minimum bytes for one identifier to count alone. CamelCase needs more, because it may be a
/// product name.
const MIN_LONG_BYTES: usize = 10;
const MIN_LONG_CAMEL_CASE_BYTES: usize = 15;

/// An identifier with its inclusive token range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identifier {
    pub(super) key: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    /// Long enough to be evidence alone.
    pub(super) is_long: bool,
}

/// Identifiers of a text in order, without those of a platform.
pub(super) fn extract_identifiers(text: &str, tokenized: &TokenizedText) -> Vec<Identifier> {
    let mut found = Vec::new();
    let tokens = &tokenized.tokens;
    let mut first = 0;
    while first < tokens.len() {
        let mut last = first;
        while tokens.get(last + 1).is_some_and(|p| joins_identifier(p.gap)) {
            last += 1;
        }
        collect_group(text, tokenized, first, last, &mut found);
        first = last + 1;
    }
    found
}

/// Keys of the identifiers in import lines; they belong to a library.
pub(super) fn imported_identifiers(text: &str) -> FxHashSet<u32> {
    if !text.contains("import") && !text.contains("#include") && !text.contains("require(") {
        return FxHashSet::default();
    }
    let mut keys = FxHashSet::default();
    for line in text.lines().map(str::trim_start).filter(|line| is_import(line)) {
        let tokenized = TokenizedText::new(line);
        keys.extend(extract_identifiers(line, &tokenized).iter().map(|found| found.key));
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

fn joins_identifier(gap: Gap) -> bool {
    match gap {
        Gap::None | Gap::Underscore | Gap::Hyphen | Gap::Dot => true,
        Gap::Apostrophe | Gap::Tight | Gap::Space | Gap::Break => false,
    }
}

/// Collects a token group joined by hyphens and dots as a whole, and its parts between them.
fn collect_group(
    text: &str,
    tokenized: &TokenizedText,
    first: usize,
    last: usize,
    found: &mut Vec<Identifier>,
) {
    let tokens = &tokenized.tokens[first..=last];
    let before = &text.as_bytes()[..tokens[0].start as usize];
    let option = before.ends_with(b"--");
    // The common case: a single word.
    if first == last && tokens[0].kind != TokenKind::Mixed && !option {
        return;
    }
    let count = |gap: Gap| tokens[1..].iter().filter(|p| p.gap == gap).count();
    let (hyphens, dots) = (count(Gap::Hyphen), count(Gap::Dot));
    let address = before.ends_with(b"@");
    let digits = tokens.iter().any(|p| matches!(p.kind, TokenKind::Mixed | TokenKind::Number));
    let letters = tokens.iter().any(|p| matches!(p.kind, TokenKind::Letters | TokenKind::Mixed));
    let mixed = tokens.iter().any(|p| p.kind == TokenKind::Mixed);
    let whole = option
        || (dots >= 1 && mixed && letters)
        || (letters && hyphens >= 2)
        || (letters && hyphens == 1 && digits)
        || (dots >= 2 && (letters || dots >= 3))
        || (address && dots >= 1);
    if whole && dots + hyphens > 0 || option {
        push_identifier(tokenized, first, last, true, found);
    }
    let mut from = first;
    for at in first..=last {
        if at < last && !matches!(tokenized.tokens[at + 1].gap, Gap::Hyphen | Gap::Dot) {
            continue;
        }
        let part = &tokenized.tokens[from..=at];
        if is_identifier(part) {
            let is_snake_case = part[1..].iter().any(|p| p.gap == Gap::Underscore);
            push_identifier(tokenized, from, at, is_snake_case || part.len() >= 3, found);
        }
        from = at + 1;
    }
}

/// True for camelCase, snake_case, or letters mixed with digits.
fn is_identifier(tokens: &[Token]) -> bool {
    let length: u32 = tokens.iter().map(Token::folded_bytes).sum();
    match tokens {
        [one] => one.kind == TokenKind::Mixed && length >= MIN_MIXED_BYTES,
        _ => {
            let letters =
                tokens.iter().any(|p| p.kind != TokenKind::Number && p.kind != TokenKind::Sign);
            let signs = tokens.iter().any(|p| p.kind == TokenKind::Sign);
            letters && !signs && length >= MIN_IDENTIFIER_BYTES
        }
    }
}

fn push_identifier(
    tokenized: &TokenizedText,
    first: usize,
    last: usize,
    is_distinctive: bool,
    found: &mut Vec<Identifier>,
) {
    let identifier = tokenized.folded_range(first, last);
    let key = hash(0, identifier.as_bytes());
    if word_lists().platform.contains(&key) {
        return;
    }
    let min_bytes = if is_distinctive { MIN_LONG_BYTES } else { MIN_LONG_CAMEL_CASE_BYTES };
    let is_long = identifier.len() >= min_bytes;
    found.push(Identifier { key, first: first as u32, last: last as u32, is_long });
}
