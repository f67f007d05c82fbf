//! Detects quoted phrases: "that is wrong" in quotation marks rejects nothing.

use crate::phrases::{Cue, CueHit};
use crate::text::closing_quote;
use crate::utterance::Utterance;

pub(super) fn is_quoted(message: &Utterance, hit: &CueHit) -> bool {
    let (start, end) = message.cue_span(hit);
    quotation_spans(message.original()).any(|(open, close)| open <= start && end <= close)
}

/// True when the message has rejecting phrases and all of them are quoted.
pub(super) fn rejects_in_quotes_only(message: &Utterance) -> bool {
    let rejects = |hit: &&CueHit| hit.cue.is_rejecting() || hit.cue == Cue::Negation;
    let mut found = message.hits.iter().filter(rejects).peekable();
    found.peek().is_some() && found.all(|hit| is_quoted(message, hit))
}

/// Byte ranges of quotations, from the opening mark to the closing one.
fn quotation_spans(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut open: Option<(usize, char)> = None;
    text.char_indices().filter_map(move |(at, c)| match open {
        Some((start, close)) if c == close => {
            open = None;
            Some((start, at))
        }
        Some(_) => None,
        None => {
            open = closing_quote(c).map(|close| (at, close));
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fully_quoted_rejections_are_ignored() {
        for quoted in [
            "Translate \"that is wrong\" into German",
            "She told me “that's wrong”, what should I answer?",
            "Was heißt „das ist falsch“ auf Englisch?",
            "「違います」を英語に訳して",
            "『違います』を英語に訳して",
        ] {
            assert!(rejects_in_quotes_only(&Utterance::read(quoted)), "{quoted}");
        }
        for own in
            ["That is wrong", "\"Paris\" is wrong", "No, \"that is wrong\" was right", "hello"]
        {
            assert!(!rejects_in_quotes_only(&Utterance::read(own)), "{own}");
        }
    }
}
