//! The input of the encoder: `[CLS] message [SEP] question [SEP] answer [SEP]`.

use std::ops::Range;

use embed::Token;

pub(crate) const FIRST_TOKEN: u32 = 101;
const SEPARATOR_TOKEN: u32 = 102;

/// Maximum tokens of the message, the question and the answer.
const MAX_TOKENS: [usize; 3] = [64, 40, 56];
/// Tokens of a whole sequence, with its marks.
#[cfg(any(test, feature = "model"))]
pub(crate) const MAX_SEQUENCE: usize = MAX_TOKENS[0] + MAX_TOKENS[1] + MAX_TOKENS[2] + 4;
/// Bytes that are tokenized at each end of a long text. More than any kept tokens need.
const END_BYTES: usize = 2_000;

/// The texts to read. Unknown ones are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    pub message: &'a str,
    pub question: &'a str,
    pub answer: &'a str,
}

/// A part of the message that became one token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPart {
    /// Index of the token in the sequence.
    pub at: usize,
    /// Bytes of the message.
    pub bytes: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub tokens: Vec<u32>,
    /// The tokens of the message.
    pub message: Vec<TextPart>,
}

/// Builds the encoder's input. Long texts keep their beginning and their end.
pub fn build_sequence(texts: &Texts<'_>) -> Sequence {
    let mut sequence = Sequence { tokens: vec![FIRST_TOKEN], message: Vec::new() };
    for (part, tokens) in tokenize_texts(texts).into_iter().enumerate() {
        for token in tokens {
            if part == 0 {
                let bytes = token.start..token.end;
                sequence.message.push(TextPart { at: sequence.tokens.len(), bytes });
            }
            sequence.tokens.push(token.id);
        }
        sequence.tokens.push(SEPARATOR_TOKEN);
    }
    sequence
}

/// The tokens that are read of the message, the question and the answer.
pub fn tokenize_texts(texts: &Texts<'_>) -> [Vec<Token>; 3] {
    [
        tokenize_ends(texts.message, MAX_TOKENS[0]),
        tokenize_ends(texts.question, MAX_TOKENS[1]),
        tokenize_ends(texts.answer, MAX_TOKENS[2]),
    ]
}

/// The tokens of a text: of a long one two thirds from the beginning and one third from the end.
fn tokenize_ends(text: &str, max: usize) -> Vec<Token> {
    let tokenizer = embed::built_in();
    if text.len() <= 2 * END_BYTES {
        let tokens = tokenizer.tokenize_with_ranges(text, usize::MAX);
        if tokens.len() <= max {
            return tokens;
        }
        let head = max * 2 / 3;
        return [&tokens[..head], &tokens[tokens.len() - (max - head)..]].concat();
    }
    let head = max * 2 / 3;
    let mut tokens =
        tokenizer.tokenize_with_ranges(&text[..text.floor_char_boundary(END_BYTES)], head);
    let from = text.ceil_char_boundary(text.len() - END_BYTES);
    let tail = tokenizer.tokenize_with_ranges(&text[from..], usize::MAX);
    let kept = &tail[tail.len().saturating_sub(max - head)..];
    tokens.extend(kept.iter().map(|token| Token {
        start: token.start + from,
        end: token.end + from,
        ..*token
    }));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_marked_and_the_message_keeps_its_ranges() {
        let texts = Texts { message: "No, wrong", question: "Which one?", answer: "" };
        let sequence = build_sequence(&texts);
        assert_eq!(sequence.tokens.iter().filter(|t| **t == SEPARATOR_TOKEN).count(), 3);
        let words: Vec<&str> =
            sequence.message.iter().map(|part| &texts.message[part.bytes.clone()]).collect();
        assert_eq!(words, ["No", ",", "wrong"]);
        assert_eq!(sequence.message[0].at, 1);
    }

    #[test]
    fn long_texts_keep_both_ends() {
        for filler in ["word ".repeat(200), "слово ".repeat(4_000)] {
            let message = format!("first {filler} last");
            let sequence = build_sequence(&Texts { message: &message, ..Texts::default() });
            assert_eq!(sequence.message.len(), MAX_TOKENS[0]);
            let text = |part: &TextPart| message[part.bytes.clone()].to_owned();
            assert_eq!(text(&sequence.message[0]), "first");
            assert_eq!(text(&sequence.message[MAX_TOKENS[0] - 1]), "last");
        }
    }

    #[test]
    fn no_text_exceeds_the_positions_of_the_model() {
        let long = "a b, c. ".repeat(10_000);
        let sequence = build_sequence(&Texts { message: &long, question: &long, answer: &long });
        assert_eq!(sequence.tokens.len(), MAX_SEQUENCE);
    }
}
