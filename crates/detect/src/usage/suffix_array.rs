//! A suffix array over the tokens of an answer.
//!
//! A name is found by binary search, so its cost does not depend on how often the answer starts to
//! match.

use std::cmp::Ordering;

use super::tokenizer::TokenizedText;

/// Bytes by which suffixes are sorted; the rest is compared on lookup.
const SORTED_BYTES: usize = 64;
/// Bytes that are compared as one integer.
const KEY_BYTES: usize = 8;
/// Maximum matches per name. Further matches do not raise the certainty.
const MAX_MATCHES: usize = 32;

#[derive(Clone, Debug)]
pub(super) struct SuffixArray {
    sorted: Vec<(u64, u32)>,
}

impl SuffixArray {
    pub(super) fn new(tokenized: &TokenizedText) -> Self {
        let mut sorted: Vec<(u64, u32)> = (0u32..)
            .zip(&tokenized.tokens)
            .map(|(at, p)| (prefix_key(tokenized, p.folded_start), at))
            .collect();
        let tail = |at: u32| suffix_bytes(tokenized, at).get(KEY_BYTES..).unwrap_or_default();
        sorted.sort_unstable_by(|(one, a), (other, b)| {
            one.cmp(other).then_with(|| tail(*a).cmp(tail(*b))).then(a.cmp(b))
        });
        Self { sorted }
    }

    /// Tokens at which the folded text starts with `joined`, compared up to the sorted bytes.
    pub(super) fn find_prefix<'a>(
        &'a self,
        tokenized: &'a TokenizedText,
        joined: &str,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let sought = &joined.as_bytes()[..joined.len().min(SORTED_BYTES)];
        let compare = |at: u32| {
            let there = suffix_bytes(tokenized, at);
            there[..there.len().min(sought.len())].cmp(sought)
        };
        let first = self.sorted.partition_point(|(_, at)| compare(*at) == Ordering::Less);
        let rest = &self.sorted[first..];
        let count = if sought.is_empty() {
            0
        } else {
            rest.partition_point(|(_, at)| compare(*at) == Ordering::Equal)
        };
        rest[..count].iter().take(MAX_MATCHES).map(|(_, at)| *at as usize)
    }
}

fn suffix_bytes(tokenized: &TokenizedText, at: u32) -> &[u8] {
    let from = tokenized.tokens[at as usize].folded_start as usize;
    let bytes = &tokenized.folded.as_bytes()[from..];
    &bytes[..bytes.len().min(SORTED_BYTES)]
}

/// The first bytes as a big-endian integer, which sorts like the bytes.
fn prefix_key(tokenized: &TokenizedText, from: u32) -> u64 {
    let bytes = &tokenized.folded.as_bytes()[from as usize..];
    (0..KEY_BYTES).fold(0, |sum, at| sum << 8 | u64::from(bytes.get(at).copied().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_is_found_at_every_occurrence() {
        let tokenized = TokenizedText::new("log in, login, a logbook, LogIn and blog in");
        let places = SuffixArray::new(&tokenized);
        let at = |name: &str| {
            let mut found: Vec<usize> = places.find_prefix(&tokenized, name).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(at("login"), [0, 2, 5]);
        assert_eq!(at("log"), [0, 2, 4, 5]);
        assert_eq!(at("logins"), [] as [usize; 0]);
        assert_eq!(at(""), [] as [usize; 0]);
    }

    #[test]
    fn matches_are_capped() {
        let tokenized = TokenizedText::new(&"a b ".repeat(5_000));
        let places = SuffixArray::new(&tokenized);
        assert_eq!(places.find_prefix(&tokenized, &"ab".repeat(50)).count(), MAX_MATCHES);
    }
}
