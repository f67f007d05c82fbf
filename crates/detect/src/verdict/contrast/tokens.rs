//! Tokens of a message.

use std::ops::Range;

use super::roles::RolePhrases;
use crate::text::{FoldedText, WordKind, hash};

/// Later tokens are not read.
const MAX_TOKENS: usize = 160;
/// Quotes and Markdown marks around a phrase.
const QUOTES: &str = "\"“”«»„`*'‘’「」『』‹›";
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) hash: u32,
    pub(super) is_mark: bool,
    /// The mark, `\n` for a new line.
    pub(super) mark: char,
    pub(super) in_answer: bool,
    pub(super) in_question: bool,
    pub(super) is_content: bool,
    pub(super) is_clause: bool,
}

pub(super) fn tokenize(text: &FoldedText, original: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(text.words.len().min(MAX_TOKENS) + 8);
    let mut last_end = 0;
    for word in &text.words {
        if tokens.len() >= MAX_TOKENS {
            break;
        }
        let gap = original.get(last_end..word.start).unwrap_or_default();
        if let Some(at) = gap.find('\n') {
            tokens.push(mark_token(last_end + at, last_end + at + 1, '\n'));
        }
        last_end = word.end;
        let folded = text.folded_word(word);
        let first = folded.chars().next().unwrap_or(' ');
        if word.kind == WordKind::Mark {
            if !QUOTES.contains(first) {
                tokens.push(mark_token(word.start, word.end, first));
            }
            continue;
        }
        let whole = word_token(word.start, word.end, hash(0, folded.as_bytes()));
        match split_elision(folded, original, word.start..word.end) {
            None => tokens.push(whole),
            Some((elided, rest, middle)) => {
                tokens.push(word_token(word.start, middle, elided));
                tokens.push(word_token(middle, word.end, rest));
            }
        }
    }
    tokens
}

/// Hashes of "l'" and "anglais", and where the second starts.
fn split_elision(folded: &str, original: &str, range: Range<usize>) -> Option<(u32, u32, usize)> {
    let (article, rest) = folded.split_once('\'')?;
    if !RolePhrases::loaded().is_elision(hash(0, article.as_bytes()))
        || matches!(rest, "s" | "t" | "m" | "d" | "ll" | "re" | "ve")
    {
        return None;
    }
    let written = original.get(range.clone())?;
    let (at, apostrophe) = written.char_indices().find(|(_, c)| "'’‘ʼ´".contains(*c))?;
    let middle = range.start + at + apostrophe.len_utf8();
    let elided = folded.get(..=article.len())?;
    Some((hash(0, elided.as_bytes()), hash(0, rest.as_bytes()), middle))
}

fn word_token(start: usize, end: usize, hash: u32) -> Token {
    Token {
        start,
        end,
        hash,
        is_mark: false,
        mark: ' ',
        in_answer: false,
        in_question: false,
        is_content: false,
        is_clause: false,
    }
}

fn mark_token(start: usize, end: usize, mark: char) -> Token {
    Token { is_mark: true, mark, ..word_token(start, end, 0) }
}
