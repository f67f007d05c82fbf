//! Detects a follow-up question with one phrase substituted: "weather in Berlin", then "weather in
//! Hamburg". Such a question says nothing about the first answer.

use crate::text::{FoldedText, Word, WordKind};
use crate::utterance::Utterance;

/// Maximum words of a substituted phrase. Three ideographs count as one word.
const MAX_SUBSTITUTED_WORDS: usize = 3;
const MAX_QUESTION_WORDS: usize = 40;

/// True when the message is the question with one phrase substituted. A changed spelling is not a
/// substitution.
pub(super) fn is_substitution(message: &Utterance, question: &Utterance) -> bool {
    let (new, old) = (WordSlice::new(message), WordSlice::new(question));
    if new.words.len() > MAX_QUESTION_WORDS || old.words.len() > MAX_QUESTION_WORDS {
        return false;
    }
    let same = |(a, b): &(&&Word, &&Word)| a.hash == b.hash;
    let head = new.words.iter().zip(&old.words).take_while(same).count();
    let room = new.words.len().min(old.words.len()) - head;
    let tail =
        new.words.iter().rev().zip(old.words.iter().rev()).take(room).take_while(same).count();
    let stretch = |words: &WordSlice<'_>| head..words.words.len() - tail;
    let (new, old) = (new.subslice(stretch(&new)), old.subslice(stretch(&old)));
    let kept = head + tail;
    let is_short = |words: &WordSlice<'_>| {
        !words.words.is_empty() && words.letter_weight() <= 3 * MAX_SUBSTITUTED_WORDS
    };
    // The same words in another order are the same question.
    let is_other = new.words.iter().all(|word| old.words.iter().all(|was| was.hash != word.hash));
    kept > 0 && is_short(&new) && is_short(&old) && is_other && !new.is_spelled_like(&old)
}

struct WordSlice<'a> {
    text: &'a FoldedText,
    words: Vec<&'a Word>,
}

impl<'a> WordSlice<'a> {
    fn new(utterance: &'a Utterance) -> Self {
        Self { text: &utterance.text, words: utterance.text.lexical_words().collect() }
    }

    fn subslice(&self, stretch: std::ops::Range<usize>) -> Self {
        Self { text: self.text, words: self.words[stretch].to_vec() }
    }

    fn letter_weight(&self) -> usize {
        self.words.iter().map(|word| if word.kind == WordKind::Sign { 1 } else { 3 }).sum()
    }

    /// Different numbers are never spelling variants.
    fn is_spelled_like(&self, other: &Self) -> bool {
        let has_number =
            |words: &Self| words.words.iter().any(|word| word.kind == WordKind::Number);
        if has_number(self) && has_number(other) {
            return false;
        }
        let letters = |words: &Self| -> Vec<char> {
            words.words.iter().flat_map(|word| words.text.folded_word(word).chars()).collect()
        };
        let (a, b) = (letters(self), letters(other));
        // At most one wrong letter in three.
        3 * strsim::generic_levenshtein(&a, &b) <= a.len().max(b.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_substituted_phrase_is_a_substitution() {
        let rows = [
            ("order status 4711", "order status 4712", true),
            ("Weather in Berlin", "weather in hamburg?", true),
            ("translate hello to german", "translate good night to german", true),
            ("How many customers joined in March?", "How many customers joined in April?", true),
            ("北京天气", "上海天气", true),
            ("the capitel of Peru", "the capital of Peru", false),
            ("show sale by region", "show sales by region", false),
            ("order status 4711", "status of order 4711", false),
            ("order status 4711", "order status 4711", false),
            ("order status 4711", "order status 4711 please", false),
            ("stock price AAPL", "how are you today", false),
            ("", "x", false),
        ];
        for (question, message, expected) in rows {
            let (question, message) = (Utterance::read(question), Utterance::read(message));
            let found = is_substitution(&message, &question);
            assert_eq!(found, expected, "{} / {}", question.original(), message.original());
        }
    }
}
