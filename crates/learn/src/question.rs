//! When two people typed the same question: case, spaces and punctuation aside.

use crate::fingerprint::fingerprint_text;

/// A question as a number: equal for questions that are equal but for case, spaces and punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionKey(u64);

impl QuestionKey {
    /// `None` for a text that asks nothing: empty, or punctuation only.
    pub fn of(question: &str) -> Option<Self> {
        let plain = normalised(question);
        (!plain.is_empty()).then(|| Self(fingerprint_text(&plain)))
    }

    /// As the key of an index of vectors.
    pub const fn as_i64(self) -> i64 {
        self.0.cast_signed()
    }

    /// The question of a key in an index of vectors.
    pub const fn from_i64(key: i64) -> Self {
        Self(key.cast_unsigned())
    }
}

/// The question in small letters, with single spaces and without punctuation around words. Symbols
/// stay, and so do marks inside words and numbers: `C++` is not `C`, `3.5` is not `35`, `a < b` is
/// not `a > b`.
pub fn normalised(question: &str) -> String {
    let mut plain = String::with_capacity(question.len());
    let mut gap = false;
    let mut chars = question.chars().peekable();
    while let Some(c) = chars.next() {
        let c = if matches!(c, '‘' | '’') { '\'' } else { c };
        let inside = || {
            let before = plain.chars().next_back().is_some_and(char::is_alphanumeric);
            before && !gap
        };
        let joins =
            is_mark(c) && inside() && chars.peek().is_some_and(|next| next.is_alphanumeric());
        if c.is_whitespace() || c.is_control() || (is_mark(c) && !joins) {
            gap = true;
            continue;
        }
        if gap && !plain.is_empty() {
            plain.push(' ');
        }
        gap = false;
        plain.extend(c.to_lowercase());
    }
    plain
}

fn is_mark(c: char) -> bool {
    ".,!?;:'\"()…¿¡“”„«»。，？！、；：「」（）".contains(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_spaces_and_punctuation_do_not_matter() {
        for (one, other) in [
            ("Show total sales", "  show   TOTAL sales?!"),
            ("What's new, and why?", "what’s new and why"),
            ("¿Cómo estás?", "cómo estás"),
            ("売上は？", "売上は"),
            ("(reset) my password.", "Reset my password"),
        ] {
            assert_eq!(normalised(one), normalised(other), "{one} / {other}");
        }
    }

    #[test]
    fn what_changes_the_question_matters() {
        for (one, other) in [
            ("version 3.5", "version 35"),
            ("C++ or C", "C or C"),
            ("a < b", "a > b"),
            ("now here", "nowhere"),
            ("node.js", "node js"),
        ] {
            assert_ne!(QuestionKey::of(one), QuestionKey::of(other), "{one} / {other}");
        }
    }

    #[test]
    fn what_asks_nothing_has_no_key() {
        for nothing in ["", "   ", "?!", "\n\t…"] {
            assert_eq!(QuestionKey::of(nothing), None, "{nothing:?}");
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in "\\PC{0,60}|[a-zA-Z0-9 .,'’!?+<>İΣ\n]{0,60}") {
            let once = normalised(&text);
            prop_assert_eq!(normalised(&once), once);
        }

        #[test]
        fn a_key_survives_the_way_through_an_index(key in any::<i64>()) {
            prop_assert_eq!(QuestionKey::from_i64(key).as_i64(), key);
        }
    }
}
