//! Compiles the fixed patterns.

use regex::Regex;

#[expect(clippy::expect_used, reason = "the patterns are fixed, and a test compiles them")]
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern compiles")
}
