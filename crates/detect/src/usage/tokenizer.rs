//! Tokenizer of use detection: folds words and splits identifiers at case changes and separators.
//!
//! `userService`, `user_service` and "User-Service" give the same two tokens. The folded tokens are
//! concatenated in one string, so that a name is found in any spelling.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::{WordHasher, hash, is_ideograph};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Letters,
    Number,
    Mixed,
    /// One ideograph or kana. Languages without spaces are split into these.
    Sign,
}

/// Separator between a token and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// No separator: a camelCase boundary, or letters next to an ideograph.
    None,
    Underscore,
    Hyphen,
    Dot,
    Apostrophe,
    /// Other punctuation without a space: a path, a call, an assignment.
    Tight,
    /// A space, possibly with a comma, a bracket or a quotation mark.
    Space,
    /// End of a sentence or paragraph.
    Break,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Byte range in the folded text.
    pub(super) folded_start: u32,
    pub(super) folded_end: u32,
    pub(super) hash: u32,
    pub(super) gap: Gap,
    pub(super) kind: TokenKind,
    pub(super) is_capitalised: bool,
}

impl Token {
    pub(super) fn folded_bytes(&self) -> u32 {
        self.folded_end - self.folded_start
    }
}

/// A tokenized text. The buffer is reusable.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenizedText {
    pub(super) folded: String,
    pub(super) tokens: Vec<Token>,
}

/// Maps letters that Unicode decomposition leaves unchanged to plain ASCII.
fn ascii_replacement(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' => "d",
        'ı' => "i",
        _ => return None,
    })
}

impl TokenizedText {
    pub(super) fn new(text: &str) -> Self {
        let mut tokenized = Self::default();
        tokenized.tokenize(text);
        tokenized
    }

    /// The folded text of the tokens from the first to the last.
    pub(super) fn folded_range(&self, first: usize, last: usize) -> &str {
        let (first, last) = (&self.tokens[first], &self.tokens[last]);
        &self.folded[first.folded_start as usize..last.folded_end as usize]
    }

    pub(super) fn folded_token(&self, token: &Token) -> &str {
        &self.folded[token.folded_start as usize..token.folded_end as usize]
    }

    /// Replaces the content with the tokens of `text`.
    pub(super) fn tokenize(&mut self, text: &str) {
        self.folded.clear();
        self.tokens.clear();
        self.folded.reserve(text.len());
        let mut between = 0;
        let mut at = 0;
        while let Some((c, end)) = char_at(text, at) {
            if !c.is_ascii_alphanumeric() && (c.is_ascii() || !c.is_alphanumeric()) {
                at = end;
                continue;
            }
            let gap =
                if self.tokens.is_empty() { Gap::Break } else { classify_gap(&text[between..at]) };
            at = self
                .read_ascii_word(text, at, gap)
                .unwrap_or_else(|| self.read_token(text, at, c, gap));
            between = at;
        }
    }

    /// Fast path for a word of ASCII letters with at most a leading capital, which most tokens are.
    /// Returns the end of the token.
    fn read_ascii_word(&mut self, text: &str, start: usize, gap: Gap) -> Option<usize> {
        let bytes = &text.as_bytes()[start..];
        let first = bytes.first().copied().filter(u8::is_ascii_alphabetic)?;
        // Hashing in the same loop avoids a second branch misprediction on the word length.
        let mut hasher = WordHasher::new(0).add_byte(first.to_ascii_lowercase());
        let mut length = 1;
        let after = loop {
            match bytes.get(length) {
                Some(byte) if byte.is_ascii_lowercase() => hasher = hasher.add_byte(*byte),
                other => break other,
            }
            length += 1;
        };
        if after.is_some_and(|next| !next.is_ascii() || next.is_ascii_alphanumeric()) {
            return None;
        }
        let (from, end, hash) = (self.folded.len(), start + length, hasher.finish());
        self.folded.push(char::from(first.to_ascii_lowercase()));
        self.folded.push_str(&text[start + 1..end]);
        let is_capitalised = first.is_ascii_uppercase();
        self.push_token((start, end), from, hash, gap, TokenKind::Letters, is_capitalised);
        Some(end)
    }

    fn read_token(&mut self, text: &str, start: usize, first: char, gap: Gap) -> usize {
        let from = self.folded.len();
        self.push_folded(first);
        let (mut at, mut last) = (start + first.len_utf8(), first);
        let (mut letters, mut digits) = (first.is_alphabetic(), first.is_numeric());
        let ideograph = is_ideograph(first);
        loop {
            if ideograph {
                break;
            }
            // Fast path for lower-case ASCII letters.
            let rest = &text.as_bytes()[at..];
            let small = rest.iter().position(|b| !b.is_ascii_lowercase()).unwrap_or(rest.len());
            if small > 0 {
                self.folded.push_str(&text[at..at + small]);
                (letters, last, at) = (true, 'a', at + small);
            }
            let Some((c, end)) = char_at(text, at) else { break };
            if matches!(c, '.' | ',') && !letters && is_digit_at(text, end) && last.is_ascii_digit()
            {
                // `4.2` and `4,2` are the same number.
                self.folded.push('.');
                (at, last) = (end, '.');
                continue;
            }
            let continues = if c.is_ascii() {
                c.is_ascii_alphanumeric()
            } else {
                (c.is_alphanumeric() && !is_ideograph(c)) || is_combining_mark(c)
            };
            if !continues || starts_camel_case_word(last, c, &text[end..]) {
                break;
            }
            letters |= c.is_alphabetic();
            digits |= c.is_numeric();
            self.push_folded(c);
            (at, last) = (end, c);
        }
        if self.folded.len() > from {
            let kind = match (ideograph, letters, digits) {
                (true, _, _) => TokenKind::Sign,
                (false, true, true) => TokenKind::Mixed,
                (false, false, true) => TokenKind::Number,
                (false, _, false) => TokenKind::Letters,
            };
            let hash = hash(0, &self.folded.as_bytes()[from..]);
            self.push_token((start, at), from, hash, gap, kind, first.is_uppercase());
        }
        at
    }

    #[inline]
    fn push_token(
        &mut self,
        (start, end): (usize, usize),
        folded_start: usize,
        hash: u32,
        gap: Gap,
        kind: TokenKind,
        is_capitalised: bool,
    ) {
        let range = [start, end, folded_start, self.folded.len()];
        let [start, end, folded_start, folded_end] = range.map(|n| n as u32);
        self.tokens.push(Token {
            start,
            end,
            folded_start,
            folded_end,
            hash,
            gap,
            kind,
            is_capitalised,
        });
    }

    fn push_folded(&mut self, c: char) {
        if c.is_ascii() {
            self.folded.push(c.to_ascii_lowercase());
        } else if is_ideograph(c) {
            self.folded.push(c);
        } else {
            for small in c.to_lowercase() {
                if let Some(plain) = ascii_replacement(small) {
                    self.folded.push_str(plain);
                } else {
                    self.folded.extend(small.nfd().filter(|c| !is_combining_mark(*c)));
                }
            }
        }
    }
}

fn classify_gap(between: &str) -> Gap {
    // Matches bytes: string comparisons took a tenth of the total time.
    match between.as_bytes() {
        [] => return Gap::None,
        [b' '] => return Gap::Space,
        [b'_'] | [b'_', b'_'] => return Gap::Underscore,
        [b'-'] => return Gap::Hyphen,
        [b'.'] => return Gap::Dot,
        [b'\''] => return Gap::Apostrophe,
        [b',', b' '] => return Gap::Space,
        [b'.', b' '] => return Gap::Break,
        [mark] if mark.is_ascii_whitespace() => return Gap::Space,
        [mark] if mark.is_ascii() => return Gap::Tight,
        _ => {}
    }
    let (mut ends, mut spaced, mut line_ended) = (false, false, false);
    for c in between.chars() {
        // A sentence or an empty line ends.
        let stops = matches!(c, '。' | '！' | '？') || (ends && c.is_whitespace());
        if stops || (line_ended && c == '\n') {
            return Gap::Break;
        }
        // A quotation mark or a citation may follow the full stop.
        ends = matches!(c, '.' | '!' | '?')
            || (ends && matches!(c, '"' | '”' | '“' | '»' | ')' | ']' | '[' | '\'' | '*'));
        line_ended = c == '\n' || (line_ended && c.is_whitespace());
        spaced |= c.is_whitespace();
    }
    let mut marks = between.chars();
    match (marks.next(), marks.next()) {
        (Some('‐' | '‑'), None) => Gap::Hyphen,
        (Some('’'), None) => Gap::Apostrophe,
        _ if spaced => Gap::Space,
        _ => Gap::Tight,
    }
}

fn is_digit_at(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
}

fn char_at(text: &str, at: usize) -> Option<(char, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() {
        return Some((char::from(byte), at + 1));
    }
    let c = text[at..].chars().next()?;
    Some((c, at + c.len_utf8()))
}

/// True when a camelCase word starts at `c`: "userService", "HTTPServer", "v3Client".
fn starts_camel_case_word(last: char, c: char, rest: &str) -> bool {
    if !c.is_uppercase() {
        return false;
    }
    if last.is_lowercase() || last.is_numeric() {
        // In "4K" and "5G" the capital after the digit starts no new word.
        return last.is_lowercase() || rest.starts_with(|n: char| n.is_lowercase());
    }
    // Splits "HTTPServer" but not "URLs".
    let mut following = rest.chars();
    let (next, then) = (following.next(), following.next());
    next.is_some_and(char::is_lowercase) && then.is_some_and(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_words(text: &str) -> Vec<String> {
        let tokenized = TokenizedText::new(text);
        tokenized.tokens.iter().map(|p| tokenized.folded_token(p).to_owned()).collect()
    }

    #[test]
    fn identifiers_split_alike_in_every_spelling() {
        let rows: &[(&str, &[&str])] = &[
            ("userService user_service User-Service", &["user", "service"]),
            ("HTTPServer", &["http", "server"]),
            ("OrderV3 orderv3", &["order", "v3", "orderv3"]),
            ("die STRASSE, die Straße", &["die", "strasse", "die", "strasse"]),
            ("l'été", &["l", "ete"]),
            ("Œuvre, œuvre", &["oeuvre"]),
            ("Đorđe", &["dorde"]),
            ("URLs 4K", &["urls", "4k"]),
            ("東京へ", &["東", "京", "へ"]),
            ("\u{301}", &[]),
        ];
        for (text, expected) in rows {
            let found = token_words(text);
            let expected: Vec<&str> = expected.iter().copied().cycle().take(found.len()).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn gaps_are_classified_by_separator() {
        let gaps = |text: &str| classify_gap(&text[1..text.len() - 1]);
        for (text, gap) in [
            ("aB", Gap::None),
            ("a_b", Gap::Underscore),
            ("a-b", Gap::Hyphen),
            ("a.b", Gap::Dot),
            ("a. b", Gap::Break),
            ("a [1]. b", Gap::Break),
            ("a.\" b", Gap::Break),
            ("a\n\nb", Gap::Break),
            ("a\n * b", Gap::Space),
            ("a, b", Gap::Space),
            ("a::b", Gap::Tight),
            ("a/b", Gap::Tight),
            ("a?b", Gap::Tight),
            ("a\nb", Gap::Space),
            ("a’b", Gap::Apostrophe),
        ] {
            assert_eq!(gaps(text), gap, "{text}");
        }
    }
}
