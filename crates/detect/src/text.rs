//! Text processing shared by the detectors: folding, masking and stemming.

mod fold;
mod mask;

pub(crate) use fold::{FoldedText, Word, WordHasher, WordKind, hash, is_ideograph};
pub(crate) use mask::{closing_quote, mask_code_and_quotes};

/// Strips common English suffixes, so that "laptops" matches "laptop" and "learning" "learn".
pub(crate) fn stem_word(folded: &str) -> &str {
    if !folded.is_ascii() || folded.len() < 4 {
        return folded;
    }
    for ending in [
        "ically", "ations", "ation", "ingly", "ings", "ness", "ment", "ing", "ies", "ied", "ers",
        "est", "ed", "er", "es", "ly", "s", "e", "y",
    ] {
        if let Some(rest) = folded.strip_suffix(ending)
            && rest.len() >= 3
        {
            return rest;
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_suffixes_are_stripped() {
        for (word, expected) in
            [("laptops", "laptop"), ("learning", "learn"), ("is", "is"), ("größe", "größe")]
        {
            assert_eq!(stem_word(word), expected);
        }
    }
}
