//! National ids with letters: UK, Spanish, Italian, and French ones of Corsica.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::check_digits::{is_codice_fiscale, is_insee, is_nif, is_nino};
use super::context::{Meaning, evidence_for};
use super::pattern::pattern;

/// Shapes of the codes. Their check digits decide.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)(?-u:\b)(?:
            (?P<nino>[a-z]{2}[\ .-]?(?:[0-9][\ .-]?){6}[a-d])
          | (?P<nif>(?:[0-9]{8} | [0-9]{2}\.[0-9]{3}\.[0-9]{3} | [0-9]{2}\ [0-9]{3}\ [0-9]{3})[\ -]?[a-z]
            | [xyz][\ .-]?(?:[0-9]{7} | [0-9]\.[0-9]{3}\.[0-9]{3})[\ -]?[a-z])
          | (?P<fiscale>(?:[a-z]{3}[\ -]?){2}[0-9lmnp-v]{2}[\ -]?[abcdehlmprst][\ -]?[0-9lmnp-v]{2}[\ -]?[a-z][0-9lmnp-v]{3}[\ -]?[a-z])
          | (?P<insee>[12][\ .-]?[0-9]{2}[\ .-]?[0-9]{2}[\ .-]?2[ab][\ .-]?[0-9]{3}[\ .-]?[0-9]{3}[\ .-]?[0-9]{2})
          )(?-u:\b)",
    )
});
/// Words up to the word that tells another meaning.
const NEAR: usize = 1;

pub(super) fn find_id_codes(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(candidate) = CODE.find_at(text, at) {
        let range = candidate.range();
        if is_id_code(text, &range) {
            at = range.end;
            found.push(range);
        } else {
            // A candidate is short, so that looking again within it takes linear time.
            at = text.ceil_char_boundary(range.start + 1);
        }
    }
    found
}

fn is_id_code(text: &str, range: &Range<usize>) -> bool {
    let candidate = &text[range.clone()];
    let code: Vec<u8> = candidate.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let joins = |c: char| matches!(c, '_' | '-' | '+') || c.is_ascii_alphanumeric();
    let mut behind = before.chars().rev();
    let is_fraction = matches!(behind.next(), Some('.' | ',' | ':'))
        && behind.next().is_some_and(|c| c.is_ascii_digit());
    if is_fraction || before.ends_with(joins) || after.starts_with(joins) {
        return false;
    }
    if is_codice_fiscale(&code) || is_insee(&code) {
        return true;
    }
    let is_zero = code.iter().all(|byte| !matches!(byte, b'1'..=b'9'));
    if is_zero || !(is_nino(&code) || is_nif(&code)) {
        return false;
    }
    let evidence = evidence_for(text, range);
    // A word of one letter after a number is mostly no check letter.
    let letter = candidate.bytes().last();
    let is_word = candidate.contains(' ') && letter.is_some_and(|byte| byte.is_ascii_lowercase());
    let is_named = evidence.is_some_and(|word| word.meaning == Meaning::NationalId);
    is_named || (!is_word && evidence.is_none_or(|word| !word.is_other(NEAR)))
}
